import { gcd, mulDivFloor } from "../numbers/exact.ts";
import { NANOS_PER_MS } from "../time.ts";

/**
 * Turns elapsed time into whole tokens and carries the rest, in fractions of a token as fine as
 * the rate needs: no time is lost and none is counted twice, however often it is asked.
 *
 * `carried` is the second result of `addTo`, kept in a field so that the hot path allocates
 * nothing.
 */
export class Refill {
  /** rate ÷ period in lowest terms: `#tokens` tokens every `#nanos` nanoseconds. */
  readonly #tokens: number;
  readonly #nanos: number;
  readonly #nanosPerToken: number;
  readonly #resolutionNanos: number;
  /** The fraction of a token that `addTo` left over, in units of 1 ÷ `#nanos`; less than `#nanos`. */
  carried = 0;

  constructor(rate: number, periodMs: number, resolutionMs: number) {
    const periodNanos = Math.round(periodMs * NANOS_PER_MS);
    const divisor = gcd(rate, periodNanos);
    this.#tokens = rate / divisor;
    this.#nanos = periodNanos / divisor;
    this.#nanosPerToken = Math.floor(this.#nanos / this.#tokens);
    this.#resolutionNanos = Math.round(resolutionMs * NANOS_PER_MS);
  }

  /**
   * Nanoseconds after a refill during which no token is added: the resolution or, for slower rates,
   * the time to the next whole token less one nanosecond.
   */
  quietNanos(carried: number): number {
    if (this.#nanosPerToken <= this.#resolutionNanos) return this.#resolutionNanos;
    return this.#nanosPerToken - Math.floor(carried / this.#tokens) - 1;
  }

  /** `balance` + ⌊(elapsed × rate + carried)⌋, with no upper bound. */
  addTo(balance: number, fromNanos: number, toNanos: number, carried: number): number {
    const parts = (toNanos - fromNanos) * this.#tokens + carried;
    if (parts <= Number.MAX_SAFE_INTEGER) {
      this.carried = parts % this.#nanos;
      return balance + (parts - this.carried) / this.#nanos;
    }
    // The time and the tokens may both be beyond 2^53 where the new balance is not.
    const elapsed = BigInt(toNanos) - BigInt(fromNanos);
    const exact = elapsed * BigInt(this.#tokens) + BigInt(carried);
    this.carried = Number(exact % BigInt(this.#nanos));
    return Number(BigInt(balance) + exact / BigInt(this.#nanos));
  }

  /**
   * Nanoseconds from a refill that left `balance` and `carried` until the balance is `target`:
   * ⌈((target − balance) × nanos − carried) ÷ tokens⌉.
   */
  nanosTo(target: number, balance: number, carried: number): number {
    const missing = (target - balance) * this.#nanos;
    if (missing > carried && missing <= Number.MAX_SAFE_INTEGER) {
      const parts = missing - carried;
      const rest = parts % this.#tokens;
      return (parts - rest) / this.#tokens + (rest > 0 ? 1 : 0);
    }
    const exact = (BigInt(target) - BigInt(balance)) * BigInt(this.#nanos) - BigInt(carried);
    const tokens = BigInt(this.#tokens);
    return Number((exact + tokens - 1n) / tokens);
  }

  /** The same fraction of a token as `carried`, in the units of `other`, rounded down. */
  convert(carried: number, other: Refill): number {
    return mulDivFloor(carried, other.#nanos, this.#nanos);
  }
}
