import type {
  LiveGate,
  LiveLimit,
  LiveSample,
  LiveVertex,
} from "../../../../src/live/live-message.ts";

/** What the chart of publish limits is about: the tightest topic, a group, or the whole gateway. */
export interface PublishSubject {
  readonly kind: "topic" | "group" | "gateway";
  readonly name: string;
}

export interface PublishNumbers {
  readonly accepted: number;
  readonly limit?: number | undefined;
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  readonly isWaiting: boolean;
}

/** A vertex by the names of its pipeline and its own. */
export interface VertexSubject {
  readonly pipeline: string;
  readonly vertex: string;
}

interface Limited {
  readonly rate: { readonly messages: number };
  readonly limit?: LiveLimit | undefined;
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  readonly reason?: string | undefined;
}

/**
 * The tightest limit of publishing. The one that was shown before stays unless another waits and it does not: a chart
 * that jumps between topics cannot be read.
 */
export function publishSubject(
  sample: LiveSample,
  before: PublishSubject | undefined,
): PublishSubject | undefined {
  const { gateway } = sample;
  if (gateway === undefined) return undefined;
  const limited: readonly (readonly [PublishSubject, Limited])[] = [
    ...gateway.topics.map((one) => [{ kind: "topic", name: one.name }, one] as const),
    ...gateway.groups.map((one) => [{ kind: "group", name: one.name }, one] as const),
    [{ kind: "gateway", name: "gateway" }, gateway],
  ];
  const usable = limited.filter(([, one]) => one.limit?.messages !== undefined);
  const kept = usable.find(([subject]) => isSame(subject, before));
  const best = usable.toSorted(([, a], [, b]) => tightness(b) - tightness(a))[0];
  if (best === undefined) return { kind: "gateway", name: "gateway" };
  if (kept !== undefined && (kept[1].reason !== undefined || best[1].reason === undefined))
    return kept[0];
  return best[0];
}

export function publishNumbers(
  { gateway }: LiveSample,
  { kind, name }: PublishSubject,
): PublishNumbers | undefined {
  const found: Limited | undefined =
    kind === "topic"
      ? gateway?.topics.find((one) => one.name === name)
      : kind === "group"
        ? gateway?.groups.find((one) => one.name === name)
        : gateway;
  if (found === undefined) return undefined;
  return {
    accepted: found.rate.messages,
    limit: found.limit?.messages,
    asked: found.asked,
    isAskedAtLeast: found.isAskedAtLeast,
    isWaiting: found.reason !== undefined,
  };
}

function isSame(a: PublishSubject, b: PublishSubject | undefined): boolean {
  return a.kind === b?.kind && a.name === b.name;
}

/** What waits is tighter than what does not. */
function tightness({ rate, asked, limit, reason }: Limited): number {
  const wanted = Math.max(rate.messages, asked) / Math.max(1, limit?.messages ?? Infinity);
  return wanted + (reason === undefined ? 0 : 1_000);
}

/** The vertex with a share, or with a gate, that waits; else the first. The one before stays while none waits. */
export function vertexSubject(
  { pipelines }: LiveSample,
  has: "share" | "gate",
  before: VertexSubject | undefined,
): VertexSubject | undefined {
  const all = pipelines.flatMap(({ name, vertices }) =>
    vertices.filter((one) => one[has] !== undefined).map((one) => ({ pipeline: name, one })),
  );
  const kept = all.find(
    ({ pipeline, one }) => pipeline === before?.pipeline && one.name === before.vertex,
  );
  const waiting = all.find(({ one }) => one.reason !== undefined && one.behind === undefined);
  const found =
    kept !== undefined && (kept.one.reason !== undefined || waiting === undefined)
      ? kept
      : (waiting ?? all[0]);
  return found && { pipeline: found.pipeline, vertex: found.one.name };
}

export function vertexOf(
  { pipelines }: LiveSample,
  subject: VertexSubject | undefined,
): LiveVertex | undefined {
  const found = pipelines.find(({ name }) => name === subject?.pipeline);
  return found?.vertices.find(({ name }) => name === subject?.vertex);
}

export function gateOf(
  sample: LiveSample,
  subject: VertexSubject | undefined,
): LiveGate | undefined {
  return vertexOf(sample, subject)?.gate;
}
