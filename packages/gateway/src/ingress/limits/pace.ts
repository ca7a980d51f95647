import type { Cost } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import type { RateLimit } from "./rate-limit.ts";

/**
 * How long a level must have been short of tokens. Clients are told while 2.5 % of the bucket are left; the rest
 * of its burst is over by then. Raised, the second after a burst may exceed 1.05 × the limit.
 */
const BURST_MS = 500;

/** A level that was not short for this long is calm again, and may burst again. */
const CALM_MS = 1_000;

/**
 * The rate of a paced level ÷ its limit. The excess makes up, slowly, for tokens that could not be used
 * in time. A second that begins with a full allowance has 1.045 × the limit and one frame at most; while frames
 * wait without a break the allowance is used up, and it is 1.015 ×.
 */
const RATE_PART = 1.015;

/**
 * What may go at once at a paced level, as a part of one second. Raised, a second may exceed its limit by as
 * much; lowered, more frames wait of producers that were told to pause and go on, at 40 ms of the rate.
 */
const CAPACITY_PART = 0.03;

/** Due to go on again: 10 ms of the rate, so that a ring does not wake for each token. */
const TARGET_PART = 0.01;

/**
 * Keeps a level that is short of tokens from catching up in one burst. Its bucket has a capacity of one
 * second; whenever the process was busy or stopped for a while, that many tokens have gathered, and frames
 * that wait would take all of them at once. The bucket alone decides how much goes in the long run.
 */
export class Pace {
  #shortSinceMs = -Infinity;
  #shortAtMs = -Infinity;
  #messages: Allowance | undefined;
  #bytes: Allowance | undefined;

  /** Frames have to wait for tokens, or clients are told to. `isWaiting`: some waited before this one. */
  onShort({ messages, bytes }: RateLimit, isWaiting: boolean, nowMs: number): void {
    if (this.#isCalm(isWaiting, nowMs)) this.#shortSinceMs = nowMs;
    this.#shortAtMs = nowMs;
    if (nowMs - this.#shortSinceMs < BURST_MS) return;
    this.#messages = allowanceFor(messages, this.#messages, nowMs);
    this.#bytes = allowanceFor(bytes, this.#bytes, nowMs);
  }

  /** A level that is paced goes on at the pace of its new rates at once. */
  setLimit({ messages, bytes }: RateLimit, nowMs: number): void {
    if (this.#messages === undefined && this.#bytes === undefined) return;
    this.#messages = allowanceFor(messages, this.#messages, nowMs);
    this.#bytes = allowanceFor(bytes, this.#bytes, nowMs);
  }

  hasRoom(isWaiting: boolean, nowMs: number): boolean {
    if (this.#messages === undefined && this.#bytes === undefined) return true;
    if (isWaiting) this.#shortAtMs = nowMs;
    if (this.#isCalm(isWaiting, nowMs)) {
      this.#messages = undefined;
      this.#bytes = undefined;
      return true;
    }
    return (this.#messages?.at(nowMs) ?? 1) > 0 && (this.#bytes?.at(nowMs) ?? 1) > 0;
  }

  /** A level that frames wait for is not calm, however long ago they asked: the process stood still since then. */
  #isCalm(isWaiting: boolean, nowMs: number): boolean {
    return !isWaiting && nowMs - this.#shortAtMs > CALM_MS;
  }

  charge({ messages, bytes }: Cost): void {
    this.#messages?.charge(messages);
    this.#bytes?.charge(bytes);
  }

  pauseMs(nowMs: number): number {
    return Math.max(this.#messages?.pauseMs(nowMs) ?? 0, this.#bytes?.pauseMs(nowMs) ?? 0);
  }
}

/** What may go now; negative after a frame that cost more. */
class Allowance {
  readonly rate: number;
  readonly #perMs: number;
  readonly #capacity: number;
  #left = 0;
  #atMs: number;

  constructor(rate: number, nowMs: number) {
    this.rate = rate;
    this.#perMs = (rate * RATE_PART) / SECOND_MS;
    this.#capacity = Math.max(1, rate * CAPACITY_PART);
    this.#atMs = nowMs;
  }

  at(nowMs: number): number {
    this.#left = Math.min(this.#capacity, this.#left + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    return this.#left;
  }

  charge(count: number): void {
    this.#left -= count;
  }

  pauseMs(nowMs: number): number {
    const left = this.at(nowMs);
    const target = Math.min(this.#capacity, Math.max(1, this.rate * TARGET_PART));
    return left > 0 ? 0 : (target - left) / this.#perMs;
  }
}

function allowanceFor(
  rate: number | undefined,
  former: Allowance | undefined,
  nowMs: number,
): Allowance | undefined {
  if (rate === undefined) return undefined;
  return former?.rate === rate ? former : new Allowance(rate, nowMs);
}
