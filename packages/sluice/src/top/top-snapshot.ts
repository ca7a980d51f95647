import type { LiveHello, LivePoolDetail, LiveSample } from "../live/live-message.ts";
import type { WholeWhy } from "../why/why-lines.ts";

/** What the administration has told, as far as the view shows it. */
export interface TopSnapshot {
  readonly hello: LiveHello;
  readonly sample: LiveSample;
  /** The first pool of this process that has a store; absent until its members are known. */
  readonly pool?: LivePoolDetail | undefined;
  /** The answer of `/api/why` for the row that is open; `name` is what was asked for. */
  readonly detail?: { readonly name: string | undefined; readonly answer: WholeWhy } | undefined;
}

/** The pool whose members are worth asking for: one that processes share through a store. */
export function sharedPoolOf({ pipelines, gateway }: LiveSample): string | undefined {
  const shares = [
    ...pipelines.flatMap(({ vertices }) => vertices.map(({ share }) => share)),
    gateway?.share,
    ...(gateway?.groups ?? []).map(({ share }) => share),
  ];
  return shares.find((share) => share?.syncAgeMs !== undefined)?.pool;
}
