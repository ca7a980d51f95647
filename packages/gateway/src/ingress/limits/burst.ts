import { SECOND_MS } from "@sluice/core/internal";

/**
 * The balance is compared with itself at intervals of this length, two of which are the first second of an overload:
 * its end is noticed up to 20 ms late. Raised, the second after the first may exceed 1.05 × the limit.
 */
const INTERVAL_MS = 475;

/**
 * Load ÷ rate − 1 that is no overload. Raised to 0.05, seconds of 1.05 × the limit would follow the first; lowered,
 * the unevenness of a load below the limit would more often be taken for one.
 */
const SLACK_PART = 0.04;

/** What is left of the burst, as a part of one second: the following second has 1.03 × the limit. */
const KEPT_PART = 0.03;

/**
 * Finds the end of a burst. A full bucket lasts for capacity ÷ (load − rate): at 1.1 × the limit for ten seconds,
 * each of which would exceed the limit. A balance that falls for two intervals on end is an overload that has lasted
 * for a second; the tokens that are left are surplus then. What waits still goes at the full rate.
 *
 * Bursts from a bucket that is full again have a second again. A capacity of 0.1 × the rate would bound all of them
 * by 1.05 × without this class, but a process that stands still for longer than 100 ms would lose tokens, and
 * so would producers that send a second's messages at once.
 */
export class Burst {
  #tokens: number;
  #atMs: number;
  /** Intervals on end in which the balance fell. */
  #falling = 0;

  constructor(tokens: number, nowMs: number) {
    this.#tokens = tokens;
    this.#atMs = nowMs;
  }

  /** The rate has changed, and the balance with it. */
  restart(tokens: number, nowMs: number): void {
    this.#falling = 0;
    this.#tokens = tokens;
    this.#atMs = nowMs;
  }

  /** Tokens that are to be forfeited now; `tokens` is the balance. */
  surplusAt(tokens: number, rate: number, capacity: number, nowMs: number): number {
    if (tokens >= capacity) {
      this.restart(tokens, nowMs);
      return 0;
    }
    const elapsedMs = nowMs - this.#atMs;
    if (elapsedMs < INTERVAL_MS) return 0;
    const slack = (SLACK_PART * rate * elapsedMs) / SECOND_MS;
    const isFalling = this.#tokens - tokens > slack;
    this.#falling = isFalling ? this.#falling + 1 : 0;
    const kept = Math.max(1, Math.floor(rate * KEPT_PART));
    const surplus = this.#falling >= 2 ? Math.max(0, tokens - kept) : 0;
    this.#tokens = tokens - surplus;
    this.#atMs = nowMs;
    return surplus;
  }
}
