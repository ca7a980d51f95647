/** What one thread writes when it adds the tokens that time has brought. */
export interface Fill {
  /** Up to here time has become tokens. */
  readonly atNanos: bigint;
  /** Tokens handed to the bucket so far, those of the start included. */
  readonly issued: bigint;
  /** Unspent tokens at that instant: the truth or more, and never more than the capacity. */
  readonly level: bigint;
}

export interface AccrualOptions {
  readonly rate: number;
  readonly periodNanos: number;
  readonly capacity: number;
  readonly resolutionNanos: number;
  readonly startNanos: bigint;
}

/** A bucket that is nearly full is filled so many times as often: see `gapNanos`. */
const BRIM_TIMES = 16n;

/** Within one gap at most this part of the capacity comes in. */
const GAP_PART = 4n;

/**
 * How time becomes tokens, without any state: by an instant a fixed number has come since the
 * start, so there is no fraction to carry, and no two threads to disagree about it.
 */
export class Accrual {
  readonly #tokens: bigint;
  readonly #nanos: bigint;
  readonly #startNanos: bigint;
  readonly #capacity: bigint;
  readonly #gapNanos: bigint;
  readonly #brimGapNanos: bigint;
  /** Room that lets the tokens of a whole gap in, whatever is spent meanwhile. */
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
   * How long after a fill there is no other. When tokens were spent within the gap nobody knows,
   * so the next fill takes it that the bucket stayed as full as it was: what would have flowed over
   * is not added. Hence the short gap of a bucket that is nearly full.
   */
  gapNanos({ level }: Fill): bigint {
    return this.#capacity - level >= this.#roomForGap ? this.#gapNanos : this.#brimGapNanos;
  }

  /** The fill that follows, at an instant after the gap, when `level` tokens are unspent. */
  next(fill: Fill, nowNanos: bigint, level: bigint): Fill {
    const inGap = this.#inGap(fill);
    const after = this.#between(fill.atNanos + this.gapNanos(fill), nowNanos);
    // Only fills add tokens, so a level that looks higher than at the last one was read mid-move.
    const unspent = min(level, fill.level);
    // Nobody spends after the gap without a fill, so the rest of the time may fill the bucket up.
    const added = inGap + min(after, this.#capacity - unspent - inGap);
    return { atNanos: nowNanos, issued: fill.issued + added, level: unspent + added };
  }

  /** The first instant at which a fill brings `count` tokens or more. */
  instantFor(fill: Fill, count: bigint): bigint {
    const gapEndNanos = fill.atNanos + this.gapNanos(fill);
    const missing = count - this.#inGap(fill);
    const due = this.#broughtBy(gapEndNanos) + missing;
    const dueNanos = this.#startNanos + (due * this.#nanos + this.#tokens - 1n) / this.#tokens;
    return max(gapEndNanos + 1n, missing > 0n ? dueNanos : 0n);
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
