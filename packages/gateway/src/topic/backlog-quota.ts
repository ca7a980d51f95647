import type { Clock } from "@sluice/core";
import type { BacklogQuota } from "../policy/topic-policy.ts";
import type { TopicLog } from "../storage/log/topic-log.ts";
import type { ProducerBlock } from "./producer/producer-block.ts";
import type { TopicSubscriptions } from "./subscription/topic-subscriptions.ts";

/** Part of the quota that an eviction leaves, so that not every publish evicts again; as in Pulsar. */
const EVICT_TO = 0.9;

export interface BacklogQuotaOptions {
  readonly log: TopicLog;
  readonly subscriptions: TopicSubscriptions;
  readonly block: ProducerBlock;
  readonly wallClock: Clock;
  /** Asked at every check. */
  readonly quota: () => BacklogQuota | undefined;
}

/**
 * Holds the backlog of a topic, which is that of its slowest durable subscription, to a quota. The
 * size is also checked when so many bytes were published since the last check that it may be over.
 */
export class BacklogQuotaCheck {
  readonly #options: BacklogQuotaOptions;
  #quota: BacklogQuota | undefined;
  /** Bytes that may be published before the size has to be looked at. */
  #roomBytes = Infinity;
  /** Producers are blocked for the age of the backlog, as of the last check. */
  #isTooOld = false;

  constructor(options: BacklogQuotaOptions) {
    this.#options = options;
  }

  /** Of the last check; clients hear of a `producer_exception` by another name. */
  get quota(): BacklogQuota | undefined {
    return this.#quota;
  }

  onPublished(bytes: number): void {
    this.#roomBytes -= bytes;
    if (this.#roomBytes <= 0) this.apply();
  }

  /** Takes the quota up when the topic is opened; its age is looked at by the first check. */
  start(): void {
    this.#quota = this.#options.quota();
    this.apply();
  }

  /** Called every `quotaCheckMs`. */
  async check(): Promise<void> {
    this.#quota = this.#options.quota();
    const { ageMaxMs, action } = this.#quota ?? {};
    const isTooOld = ageMaxMs !== undefined && (await this.#oldestAgeMs()) > ageMaxMs;
    const isEvicted = action === "consumer_backlog_eviction";
    if (isTooOld && isEvicted) await this.#evictOlderThan(ageMaxMs);
    this.#isTooOld = isTooOld && !isEvicted;
    this.apply();
  }

  /** Blocks, evicts or unblocks by what is known; reads nothing. */
  apply(): void {
    const { block, subscriptions } = this.#options;
    const quota = this.#quota;
    if (quota === undefined) {
      this.#roomBytes = Infinity;
      block.end("backlog-quota");
      return;
    }
    const sizeMaxBytes = quota.sizeMaxBytes ?? Infinity;
    const backlogBytes = this.#backlogBytes();
    this.#roomBytes = sizeMaxBytes - backlogBytes;
    const isOver = this.#isTooOld || backlogBytes >= sizeMaxBytes;
    if (!isOver) {
      block.end("backlog-quota");
    } else if (quota.action !== "consumer_backlog_eviction") {
      block.begin("backlog-quota");
    } else {
      subscriptions.evictTo(sizeMaxBytes * EVICT_TO);
      this.#roomBytes = sizeMaxBytes - this.#backlogBytes();
    }
  }

  #evictOlderThan(ageMaxMs: number): Promise<void> {
    const { subscriptions, wallClock } = this.#options;
    return subscriptions.expireAll(wallClock.now() - ageMaxMs);
  }

  #backlogBytes(): number {
    const { log, subscriptions } = this.#options;
    const { consumedBefore } = subscriptions;
    return log.entryCountBetween(consumedBefore, log.end) === 0
      ? 0
      : log.sizeBytesFrom(consumedBefore);
  }

  async #oldestAgeMs(): Promise<number> {
    const { log, subscriptions, wallClock } = this.#options;
    const bounds = { countMax: 1, bytesMax: 1 };
    const [oldest] = await log.read(subscriptions.consumedBefore, bounds);
    return oldest === undefined ? 0 : wallClock.now() - oldest.publishedAtMs;
  }
}
