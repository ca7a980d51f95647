import type { SampledInstant, SampledProcess } from "../sample/live-sampler.ts";
import { ownPool, ownPools } from "./own-pools.ts";
import { fullTopic, TopicDetail } from "./topic-detail.ts";
import { WatchedPool } from "./watched-pool.ts";

/** What a page looks at beside the overview. */
export interface Looked {
  readonly topic?: string | undefined;
  readonly pool?: string | undefined;
}

/** A message of a detail: its name and its JSON. */
export type DetailMessage = readonly ["topic" | "pool", string];

/**
 * What pages look at beside the overview: made once for all pages that look at the same, and only while one does. Only
 * the past of pools is kept always.
 */
export class LiveDetails {
  readonly #process: SampledProcess;
  #topics = new Map<string, TopicDetail>();
  readonly #pools = new Map<string, WatchedPool>();

  constructor(process: SampledProcess) {
    this.#process = process;
  }

  /** What the members of a pool held in the last 15 minutes, each look as JSON, oldest first. */
  poolPast(name: string): readonly string[] {
    return (this.#pools.get(name)?.past ?? []).map((look) => JSON.stringify(look));
  }

  /** The messages of each page for one sample, in the order of the pages. */
  read(instant: SampledInstant, looks: readonly Looked[]): readonly (readonly DetailMessage[])[] {
    const topics = this.#topicMessages(instant, new Set(looks.flatMap(({ topic }) => topic ?? [])));
    const pools = this.#poolMessages(instant, new Set(looks.flatMap(({ pool }) => pool ?? [])));
    return looks.map(({ topic = "", pool = "" }) => [
      ...messageOf("topic", topics.get(topic)),
      ...messageOf("pool", pools.get(pool)),
    ]);
  }

  #poolMessages(
    { wallMs }: SampledInstant,
    looked: ReadonlySet<string>,
  ): ReadonlyMap<string, string> {
    const { shared, clock, gateway, pipelines } = this.#process;
    // A page may look at pools of this process only: the store may hold those of others.
    const own = ownPools({ gateway, pipelines });
    for (const [name, { isOver }] of this.#pools) if (isOver) this.#pools.delete(name);
    const messages = new Map<string, string>();
    for (const [name, fleet] of own) {
      const watched = this.#pools.get(name) ?? new WatchedPool(name, shared, clock);
      this.#pools.set(name, watched);
      const isLooked = looked.has(name);
      if (!watched.look(fleet, isLooked) && !isLooked) continue;
      const pool = ownPool(name, { gateway, pipelines, store: shared?.store });
      if (pool === undefined) continue;
      const detail = watched.read(pool, wallMs);
      if (isLooked && watched.isFresh) messages.set(name, JSON.stringify(detail));
    }
    return messages;
  }

  #topicMessages(
    { gateway, live, wallMs }: SampledInstant,
    names: ReadonlySet<string>,
  ): ReadonlyMap<string, string> {
    for (const [name, detail] of this.#topics)
      if (!names.has(name)) {
        detail.stop();
        this.#topics.delete(name);
      }
    const messages = new Map<string, string>();
    if (gateway === undefined) return messages;
    for (const name of names) {
      const detail = this.#topics.get(name) ?? new TopicDetail(gateway.gateway, fullTopic(name));
      this.#topics.set(name, detail);
      const { pipelines } = live;
      const input = { ...gateway, pipelines, findPlace: this.#process.placeOf, wallMs };
      messages.set(name, JSON.stringify(detail.read(input)));
    }
    return messages;
  }
}

function messageOf(name: DetailMessage[0], message: string | undefined): readonly DetailMessage[] {
  return message === undefined ? [] : [[name, message]];
}
