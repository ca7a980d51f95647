import type { Reason } from "../reason.ts";
import type { Clock } from "../time.ts";
import type { CompoundLimiter } from "./compound-limiter.ts";
import type { TokenBucket } from "./token-bucket.ts";

/** How long to wait, and for whom. */
export interface Pause {
  readonly pauseMs: number;
  readonly reason: Reason;
}

/**
 * Limits that hold at once, such as those of a topic, its group and the broker. Several limiters
 * may share a level: each topic has its own, all have the broker's.
 *
 * The order of the levels is the order in which reasons are told; every level is always charged,
 * so a tight one does not spare the others.
 */
export class MultiLevelLimiter {
  readonly #clock: Clock;
  readonly #levels: readonly CompoundLimiter[];
  // The hot path walks buckets, not levels, and by index: what stands between costs more than them.
  readonly #messageBuckets: readonly TokenBucket[];
  readonly #byteBuckets: readonly TokenBucket[];
  /** Of each bucket the level that it belongs to, for not every level has both. */
  readonly #messageLevels: readonly number[];
  readonly #byteLevels: readonly number[];
  /** The instant of the call under way: through a field, because V8 boxes it elsewhere. */
  #nowMs = 0;

  constructor(clock: Clock, levels: readonly CompoundLimiter[]) {
    this.#clock = clock;
    this.#levels = levels;
    this.#messageBuckets = levels.flatMap(({ messages }) => messages ?? []);
    this.#byteBuckets = levels.flatMap(({ bytes }) => bytes ?? []);
    this.#messageLevels = levels.flatMap(({ messages }, level) => (messages ? level : []));
    this.#byteLevels = levels.flatMap(({ bytes }, level) => (bytes ? level : []));
  }

  /** For work already accepted: charges every level; the first reason to pause, if there is one. */
  chargeAndCheck(messages: number, bytes: number, nowMs?: number): Reason | undefined {
    this.#readClock(nowMs);
    const atMs = this.#nowMs;
    const messageBuckets = this.#messageBuckets;
    const byteBuckets = this.#byteBuckets;
    let short = this.#levels.length;
    for (let i = messageBuckets.length - 1; i >= 0; i--) {
      const bucket = messageBuckets[i] as TokenBucket;
      if (!bucket.chargeAndCheck(messages, atMs)) short = this.#messageLevels[i] as number;
    }
    for (let i = byteBuckets.length - 1; i >= 0; i--) {
      const bucket = byteBuckets[i] as TokenBucket;
      if (!bucket.chargeAndCheck(bytes, atMs)) {
        short = Math.min(short, this.#byteLevels[i] as number);
      }
    }
    // Compared first: reading beyond an array's end makes the caller slow.
    return short < this.#levels.length ? this.#levels[short]?.reason : undefined;
  }

  /** For work that can still be refused: charges every level, or none and gives the reason. */
  tryAcquire(messages: number, bytes: number, nowMs?: number): Reason | undefined {
    this.#readClock(nowMs);
    const atMs = this.#nowMs;
    const levels = this.#levels;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i] as CompoundLimiter;
      if (!level.canTake(messages, bytes, atMs)) return level.reason;
    }
    this.charge(messages, bytes);
    return undefined;
  }

  /** Charges every level, into debt if it must. Reads no clock. */
  charge(messages: number, bytes: number): void {
    const messageBuckets = this.#messageBuckets;
    const byteBuckets = this.#byteBuckets;
    for (let i = 0; i < messageBuckets.length; i++) {
      (messageBuckets[i] as TokenBucket).charge(messages);
    }
    for (let i = 0; i < byteBuckets.length; i++) (byteBuckets[i] as TokenBucket).charge(bytes);
  }

  hasTokens(nowMs: number = this.#clock.now()): boolean {
    return this.#levels.every((level) => level.hasTokens(nowMs));
  }

  /** The longest pause of any level and whose it is; `undefined` if none asks for one. */
  pause(nowMs: number = this.#clock.now()): Pause | undefined {
    let longest: Pause | undefined;
    for (const level of this.#levels) {
      const pauseMs = level.pauseMs(nowMs);
      if (pauseMs > (longest?.pauseMs ?? 0)) longest = { pauseMs, reason: level.reason };
    }
    return longest;
  }

  #readClock(nowMs: number | undefined): void {
    if (nowMs === undefined) this.#nowMs = this.#clock.now();
    else this.#nowMs = nowMs;
  }
}
