import type { SampledInstant, SampledProcess } from "../sample/live-sampler.ts";
import { ownPool } from "./own-pools.ts";
import { poolDetail } from "./pool-detail.ts";
import { RosterWatch } from "./pool-roster.ts";
import { fullTopic, TopicDetail } from "./topic-detail.ts";

/** What a page looks at beside the overview. */
export interface Looked {
  readonly topic?: string | undefined;
  readonly pool?: string | undefined;
}

/** A message of a detail: its name and its JSON. */
export type DetailMessage = readonly ["topic" | "pool", string];

/** What pages look at beside the overview: made once for all pages that look at the same, and only while one does. */
export class LiveDetails {
  readonly #process: SampledProcess;
  #topics = new Map<string, TopicDetail>();
  readonly #rosters = new Map<string, RosterWatch>();

  constructor(process: SampledProcess) {
    this.#process = process;
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
    names: ReadonlySet<string>,
  ): ReadonlyMap<string, string> {
    for (const name of this.#rosters.keys()) if (!names.has(name)) this.#rosters.delete(name);
    const { shared, clock, gateway, pipelines } = this.#process;
    const messages = new Map<string, string>();
    for (const name of names) {
      const own = ownPool(name, { gateway, pipelines, store: shared?.store });
      // A page may look at pools of this process only: the store may hold those of others.
      if (own === undefined) continue;
      const watch = this.#rosters.get(name) ?? (shared && new RosterWatch(shared, name, clock));
      if (watch !== undefined) this.#rosters.set(name, watch);
      watch?.look();
      const at = { nowMs: clock.now(), wallMs };
      messages.set(name, JSON.stringify(poolDetail(own, watch, at)));
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
