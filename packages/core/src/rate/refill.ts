import { gcd } from "../exact.ts";
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
  /** Of a token, in parts of `#nanos`; always less than a whole one. */
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
   * Tokens are added only when strictly more than this has passed since they were last: the
   * resolution, or for slower rates the time at which the next whole token is due.
   */
  quietNanos(carried: number): number {
    if (this.#nanosPerToken <= this.#resolutionNanos) return this.#resolutionNanos;
    return this.#nanosPerToken - Math.floor(carried / this.#tokens) - 1;
  }

  /** `balance` and the tokens that come in between two instants, with no bound. */
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

  /** Nanoseconds in which `count` tokens come in, rounded up so that waiting them out suffices. */
  nanosFor(count: bigint): number {
    const parts = count * BigInt(this.#nanos);
    const tokens = BigInt(this.#tokens);
    return Number((parts + tokens - 1n) / tokens);
  }

  /** What `carried` of this refill is worth in the parts of `other`, rounded down. */
  convert(carried: number, other: Refill): number {
    return Number((BigInt(carried) * BigInt(other.#nanos)) / BigInt(this.#nanos));
  }
}
