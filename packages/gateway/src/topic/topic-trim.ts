import type { TopicName } from "../name/topic-name.ts";
import type { TopicLog } from "../storage/log/topic-log.ts";
import type { Deduplication } from "./producer/deduplication.ts";
import type { TopicSubscriptions } from "./subscription/topic-subscriptions.ts";
import type { TopicSurroundings } from "./topic.ts";

export interface TopicTrimOptions {
  readonly topic: TopicName;
  readonly log: TopicLog;
  readonly surroundings: TopicSurroundings;
  readonly subscriptions: TopicSubscriptions;
  readonly deduplication: Deduplication;
  readonly isEnded: () => boolean;
  /** Entries were removed. */
  readonly onFreed: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** Removes what all subscriptions have consumed and retention does not keep. */
export class TopicTrim {
  readonly #options: TopicTrimOptions;
  #isDue = false;
  #running: Promise<void> | undefined;

  constructor(options: TopicTrimOptions) {
    this.#options = options;
  }

  /** One at a time; what is consumed while one runs is seen by the next. */
  run(): Promise<void> {
    this.#isDue = true;
    this.#running ??= this.#runWhileDue();
    return this.#running;
  }

  async #runWhileDue(): Promise<void> {
    while (this.#isDue && !this.#options.isEnded()) {
      this.#isDue = false;
      await this.#trim();
    }
    this.#running = undefined;
  }

  async #trim(): Promise<void> {
    const { topic, log, surroundings, subscriptions, deduplication } = this.#options;
    const { consumedBefore } = subscriptions;
    const { wallClock, settings, policies } = surroundings;
    const { sizeBytes } = log;
    const { retention = settings.retention } = policies.of(topic);
    // If it fails for lack of room, removing entries is what helps.
    await deduplication.save().catch(() => undefined);
    try {
      // Entries that nobody subscribed to may still be wanted; what subscriptions consumed is not.
      const drain = subscriptions.hasDurable ? { drainAfterMs: 0 } : {};
      await log.trim({ nowMs: wallClock.now(), consumedBefore, ...retention, ...drain });
    } catch (error) {
      // What could not be removed now is tried again.
      if (log.failure !== undefined) this.#options.onFailed(error);
    }
    if (log.sizeBytes < sizeBytes) this.#options.onFreed();
  }
}
