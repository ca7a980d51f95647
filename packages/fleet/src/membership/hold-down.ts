import type { Timing } from "./timing.ts";

/**
 * For how long something that the store tells, such as who is live, has been the same, as far as a
 * member saw it at every sync. From the receipt of the first such reply to the sending of the last:
 * what happened to a reply on its way, before or after, does not count.
 */
export class HoldDown {
  readonly #leaseMs: number;
  readonly #gapMs: number;
  #told: number | string | undefined;
  #sinceMs = 0;
  #repliedAtMs: number = Number.NEGATIVE_INFINITY;

  constructor({ leaseMs, syncIntervalMs, timeoutMs }: Timing) {
    this.#leaseMs = leaseMs;
    this.#gapMs = syncIntervalMs + timeoutMs;
  }

  /** Notes a reply; true once what it tells was the same for a whole lease. */
  onReply(told: number | string, sentAtMs: number, nowMs: number): boolean {
    // Who was stopped, or busy for long, has missed a sync without noticing.
    const hasGap = sentAtMs - this.#repliedAtMs > this.#gapMs;
    if (told !== this.#told || hasGap) {
      this.#told = told;
      this.#sinceMs = nowMs;
    }
    this.#repliedAtMs = nowMs;
    return sentAtMs - this.#sinceMs >= this.#leaseMs;
  }

  /** A missed sync starts it anew: meanwhile others may have come and gone. */
  restart(): void {
    this.#repliedAtMs = Number.NEGATIVE_INFINITY;
  }
}
