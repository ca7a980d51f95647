import type { BrokerStore, StoredTopic } from "../src/storage/store/broker-store.ts";
import { MemoryBrokerStore } from "../src/storage/store/memory-broker-store.ts";
import type { TopicLog } from "../src/storage/log/topic-log.ts";

/** A store in memory whose appends wait until they are let go, one by one. */
export class HeldStore {
  readonly store: BrokerStore;
  readonly #held: (() => void)[] = [];

  constructor() {
    const memory = new MemoryBrokerStore();
    const openTopic = async (name: string): Promise<StoredTopic> => {
      const topic = await memory.openTopic(name);
      return replacing(topic, "log", this.#holding(topic.log));
    };
    this.store = replacing(memory, "openTopic", openTopic);
  }

  /** Appends that wait. */
  get held(): number {
    return this.#held.length;
  }

  letGo(count: number): void {
    for (const go of this.#held.splice(0, count)) go();
  }

  #holding(log: TopicLog): TopicLog {
    const append: TopicLog["append"] = async (entry) => {
      await new Promise<void>((resolve) => {
        this.#held.push(resolve);
      });
      return log.append(entry);
    };
    return replacing(log, "append", append);
  }
}

/** The same object but for one property. */
function replacing<T extends object, Key extends keyof T>(object: T, key: Key, value: T[Key]): T {
  return new Proxy(object, {
    get(target, name) {
      if (name === key) return value;
      const own: unknown = Reflect.get(target, name, target);
      return typeof own === "function" ? (own.bind(target) as unknown) : own;
    },
  });
}
