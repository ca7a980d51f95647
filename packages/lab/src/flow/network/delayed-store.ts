import { MemoryBrokerStore } from "@sluice/gateway/internal";
import type { StoredTopic, TopicLog } from "@sluice/gateway/internal";
import type { VirtualTime } from "../../simulation/engine/virtual-time.ts";

type NewEntry = Parameters<TopicLog["append"]>[0];

export interface DelayedStoreOptions {
  readonly time: VirtualTime;
  /** From an append to its durability. */
  readonly latencyMs: number;
  /** Messages of an entry that a topic has begun to store. */
  readonly onAppend: (topic: string, messages: number) => void;
}

/** Kept of each entry: a run may publish gigabytes, and no simulated client reads them. */
const KEPT = Buffer.alloc(1);

/** Room for more entries than a run may have. */
const LOG_BYTES_MAX = 2 ** 40;

/** A store in memory that takes its time, and remembers only how many entries there were. */
export class DelayedStore extends MemoryBrokerStore {
  readonly #options: DelayedStoreOptions;

  constructor(options: DelayedStoreOptions) {
    super({ log: { bytesMax: LOG_BYTES_MAX } });
    this.#options = options;
  }

  override async openTopic(name: string): Promise<StoredTopic> {
    const topic = await super.openTopic(name);
    return { ...topic, log: this.#delayed(name, topic.log) };
  }

  #delayed(topic: string, log: TopicLog): TopicLog {
    const { time, latencyMs, onAppend } = this.#options;
    const append = async (entry: NewEntry): ReturnType<TopicLog["append"]> => {
      onAppend(topic, entry.messageCount);
      await time.sleep(latencyMs);
      return log.append({ ...entry, parts: [KEPT] });
    };
    return new Proxy(log, {
      get: (target, key) => {
        if (key === "append") return append;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  }
}
