/** One addition of tokens to the bucket. */
export interface Fill {
  /** Time up to which tokens were added. */
  readonly atNanos: bigint;
  /** Tokens added so far, those of the start included. */
  readonly issued: bigint;
  /** Upper bound of the unspent tokens at that time; at most the capacity. */
  readonly level: bigint;
}

export interface AccrualOptions {
  readonly rate: number;
  readonly periodNanos: number;
  readonly capacity: number;
  readonly resolutionNanos: number;
  readonly startNanos: bigint;
}

/**
 * How many times as often a nearly full bucket is filled. Raised, a full bucket loses fewer tokens
 * (see `gapNanos`), and calls on it cost more. 16 gaps of 1 ms make the default resolution of 16 ms.
 */
const BRIM_TIMES = 16n;

/** A gap brings at most 1 ÷ this of the capacity. Raised, small buckets are filled more often. */
const GAP_PART = 4n;

/**
 * Turns time into tokens, without state: `tokens(t) = ⌊(t − start) × rate ÷ period⌋`. So there is no
 * fraction to carry, and all threads compute the same number.
 */
export class Accrual {
  readonly #tokens: bigint;
  readonly #nanos: bigint;
  readonly #startNanos: bigint;
  readonly #capacity: bigint;
  readonly #gapNanos: bigint;
  readonly #brimGapNanos: bigint;
  /** Room for the tokens of a whole gap if none are spent during it. */
  readonly #roomForGap: bigint;

  constructor({ rate, periodNanos, capacity, resolutionNanos, startNanos }: AccrualOptions) {
    this.#tokens = BigInt(rate);
    this.#nanos = BigInt(periodNanos);
    this.#startNanos = startNanos;
    this.#capacity = BigInt(capacity);
    const partNanos = (this.#capacity * this.#nanos) / (this.#tokens * GAP_PART);
    this.#gapNanos = min(BigInt(resolutionNanos), partNanos);
    this.#brimGapNanos = this.#gapNanos / BRIM_TIMES;
    this.#roomForGap = (this.#gapNanos * this.#tokens) / this.#nanos + 1n;
  }

  first(): Fill {
    return { atNanos: this.#startNanos, issued: this.#capacity, level: this.#capacity };
  }

  /**
   * Least time between a fill and the next. When within the gap tokens were spent is unknown, so
   * the next fill assumes that the bucket stayed as full as it was, and does not add what would
   * have overflowed. The gap of a nearly full bucket is therefore short.
   */
  gapNanos({ level }: Fill): bigint {
    return this.#capacity - level >= this.#roomForGap ? this.#gapNanos : this.#brimGapNanos;
  }

  /** The next fill, at a time after the gap, when `level` tokens are unspent. */
  next(fill: Fill, nowNanos: bigint, level: bigint): Fill {
    const inGap = this.#inGap(fill);
    const after = this.#between(fill.atNanos + this.gapNanos(fill), nowNanos);
    // Only fills add tokens: a level above that of the last fill was read while tokens moved.
    const unspent = min(level, fill.level);
    // After the gap no token is spent without a fill, so the rest of the time may fill the bucket.
    const added = inGap + min(after, this.#capacity - unspent - inGap);
    return { atNanos: nowNanos, issued: fill.issued + added, level: unspent + added };
  }

  /** The earliest time at which a fill adds `count` tokens or more. */
  instantFor(fill: Fill, count: bigint): bigint {
    const gapEndNanos = fill.atNanos + this.gapNanos(fill);
    const missing = count - this.#inGap(fill);
    const due = this.#broughtBy(gapEndNanos) + missing;
    const dueNanos = this.#startNanos + (due * this.#nanos + this.#tokens - 1n) / this.#tokens;
    return missing > 0n ? max(gapEndNanos + 1n, dueNanos) : gapEndNanos + 1n;
  }

  #inGap(fill: Fill): bigint {
    const brought = this.#between(fill.atNanos, fill.atNanos + this.gapNanos(fill));
    return min(brought, this.#capacity - fill.level);
  }

  #between(fromNanos: bigint, toNanos: bigint): bigint {
    return this.#broughtBy(toNanos) - this.#broughtBy(fromNanos);
  }

  #broughtBy(atNanos: bigint): bigint {
    return ((atNanos - this.#startNanos) * this.#tokens) / this.#nanos;
  }
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
