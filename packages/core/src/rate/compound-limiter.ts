import { ADMITTED, refusal } from "../admission.ts";
import type { Admission } from "../admission.ts";
import type { Reason } from "../reason.ts";
import { systemClock } from "../system.ts";
import type { Clock } from "../time.ts";
import { Level, requireCost } from "./level.ts";
import type { BucketOptions } from "./rate-options.ts";
import { balanceOf, TokenBucket } from "./token-bucket.ts";

export interface CompoundLimiterOptions {
  /** Messages per period. Default: messages are not limited. */
  readonly messages?: BucketOptions;
  /** Bytes per period. Default: bytes are not limited. */
  readonly bytes?: BucketOptions;
  /**
   * The reason that refusals carry.
   * @default "rate"
   */
  readonly reason?: Reason;
  /**
   * Where the time comes from.
   * @default the monotonic system clock
   */
  readonly clock?: Clock;
}

/** The balances behind a limiter, for limiters that decide over several in one walk. */
export let levelOf: (limiter: CompoundLimiter) => Level;

/**
 * A limit in messages and bytes, each optional. Both are charged or none; a limiter with neither
 * admits everything.
 *
 * @example
 * const limiter = new CompoundLimiter({ messages: { rate: 100 }, bytes: { rate: 1_000_000 } });
 * if (limiter.tryAcquire(1, body.length)) send(body);
 * else setTimeout(retry, limiter.pauseMs(1, body.length));
 */
export class CompoundLimiter {
  readonly clock: Clock;
  readonly reason: Reason;
  readonly messages: TokenBucket | undefined;
  readonly bytes: TokenBucket | undefined;
  readonly #level: Level;
  readonly #refusal: Admission;

  static {
    levelOf = (limiter) => limiter.#level;
  }

  constructor(options: CompoundLimiterOptions) {
    const { clock = systemClock, reason = "rate", messages, bytes } = options;
    this.clock = clock;
    this.reason = reason;
    this.#refusal = refusal(reason);
    this.messages = messages && new TokenBucket({ ...messages, clock });
    this.bytes = bytes && new TokenBucket({ ...bytes, clock });
    this.#level = new Level(
      this.messages && balanceOf(this.messages),
      this.bytes && balanceOf(this.bytes),
    );
  }

  /** Charges both if both have what is asked, as `TokenBucket.tryAcquire`, else none. */
  tryAcquire(messages: number, bytes: number, nowMs: number = this.clock.now()): boolean {
    requireCost("CompoundLimiter.tryAcquire", messages, bytes);
    this.#level.touch(nowMs);
    if (this.#level.take(messages, bytes)) return true;
    if (!this.#level.holds(messages, bytes, nowMs)) return false;
    this.#level.refresh(nowMs);
    this.#level.takeOnCredit(messages, bytes);
    return true;
  }

  /** As `tryAcquire`, and tells the reason of a refusal. */
  admit(messages: number, bytes: number, nowMs?: number): Admission {
    return this.tryAcquire(messages, bytes, nowMs) ? ADMITTED : this.#refusal;
  }

  /** What `tryAcquire` would answer. */
  canAcquire(messages: number, bytes: number, nowMs: number = this.clock.now()): boolean {
    requireCost("CompoundLimiter.canAcquire", messages, bytes);
    return this.#level.holds(messages, bytes, nowMs);
  }

  /**
   * Milliseconds until `tryAcquire(messages, bytes)` is admitted if no tokens are taken meanwhile; 0
   * if it is admitted now.
   */
  pauseMs(messages: number, bytes: number, nowMs: number = this.clock.now()): number {
    requireCost("CompoundLimiter.pauseMs", messages, bytes);
    return this.#level.pauseMs(messages, bytes, nowMs);
  }

  /** Charges both, into debt if necessary. */
  charge(messages: number, bytes: number, nowMs: number = this.clock.now()): void {
    requireCost("CompoundLimiter.charge", messages, bytes);
    this.#level.touch(nowMs);
    this.#level.takeOnCredit(messages, bytes);
  }

  /** Charges both, into debt if necessary; true while both have at least one token left. */
  chargeAndCheck(messages: number, bytes: number, nowMs: number = this.clock.now()): boolean {
    requireCost("CompoundLimiter.chargeAndCheck", messages, bytes);
    this.#level.touch(nowMs);
    return this.#level.takeOnCredit(messages, bytes);
  }

  /** Milliseconds to pause after `chargeAndCheck` answered false: until both reach their targets. */
  throttlingDurationMs(nowMs: number = this.clock.now()): number {
    return this.#level.throttlingDurationMs(nowMs);
  }

  hasTokens(nowMs: number = this.clock.now()): boolean {
    return this.#level.hasTokens(nowMs);
  }
}
