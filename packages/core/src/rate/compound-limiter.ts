import type { Reason } from "../reason.ts";
import type { Clock } from "../time.ts";
import { TokenBucket } from "./token-bucket.ts";
import type { TokenBucketOptions } from "./token-bucket.ts";

export interface CompoundRates {
  readonly messages?: TokenBucketOptions;
  readonly bytes?: TokenBucketOptions;
}

/**
 * A limit in messages and bytes, each optional, with the reason it gives when it is reached.
 * A limiter with neither lets everything pass.
 */
export class CompoundLimiter {
  readonly #clock: Clock;
  readonly reason: Reason;
  readonly messages: TokenBucket | undefined;
  readonly bytes: TokenBucket | undefined;

  constructor(clock: Clock, reason: Reason, rates: CompoundRates) {
    this.#clock = clock;
    this.reason = reason;
    this.messages = rates.messages && new TokenBucket(clock, rates.messages);
    this.bytes = rates.bytes && new TokenBucket(clock, rates.bytes);
  }

  /** Charges both, into debt if it must. Reads no clock. */
  charge(messages: number, bytes: number): void {
    this.messages?.charge(messages);
    this.bytes?.charge(bytes);
  }

  /** Charges both always; the reason to pause now, or `undefined` to go on. */
  chargeAndCheck(
    messages: number,
    bytes: number,
    nowMs: number = this.#clock.now(),
  ): Reason | undefined {
    const messagesLeft =
      this.messages === undefined || this.messages.chargeAndCheck(messages, nowMs);
    const bytesLeft = this.bytes === undefined || this.bytes.chargeAndCheck(bytes, nowMs);
    return messagesLeft && bytesLeft ? undefined : this.reason;
  }

  /** Charges both or, if either is short, none and gives the reason. */
  tryAcquire(
    messages: number,
    bytes: number,
    nowMs: number = this.#clock.now(),
  ): Reason | undefined {
    if (!this.canTake(messages, bytes, nowMs)) return this.reason;
    this.charge(messages, bytes);
    return undefined;
  }

  /** Whether both have what is asked, or are full. */
  canTake(messages: number, bytes: number, nowMs: number = this.#clock.now()): boolean {
    return (
      (this.messages === undefined || this.messages.canTake(messages, nowMs)) &&
      (this.bytes === undefined || this.bytes.canTake(bytes, nowMs))
    );
  }

  hasTokens(nowMs: number = this.#clock.now()): boolean {
    return (
      (this.messages === undefined || this.messages.hasTokens(nowMs)) &&
      (this.bytes === undefined || this.bytes.hasTokens(nowMs))
    );
  }

  /** Milliseconds until both are back at their targets. */
  pauseMs(nowMs: number = this.#clock.now()): number {
    return Math.max(
      this.messages?.pauseMs(undefined, nowMs) ?? 0,
      this.bytes?.pauseMs(undefined, nowMs) ?? 0,
    );
  }
}
