import { ConfigError, COUNT_MAX, requireCount, requireWhole } from "../errors.ts";
import { systemClock } from "../system.ts";
import { NANOS_PER_MS, toNanos } from "../time.ts";
import type { Clock } from "../time.ts";
import { initialTokensOf, refillOf, requireRate, requireRateOptions } from "./rate-options.ts";
import type { RateOptions } from "./rate-options.ts";
import type { Refill } from "./refill.ts";

/** The rate, capacity and initial tokens are those of each key. */
export interface KeyedBucketsOptions extends RateOptions {
  /**
   * Balance of a key that is new or was forgotten, at most the capacity. A key is forgotten once it
   * is full again; with less than the capacity here it loses the difference.
   * @default the smaller of rate and capacity
   */
  readonly initialTokens?: number;
  /**
   * Most keys held at once, about 62 bytes each. Further keys share one bucket.
   * @default 1_000_000
   */
  readonly maxKeys?: number;
  /**
   * Where the time comes from.
   * @default the monotonic system clock
   */
  readonly clock?: Clock;
}

/**
 * One row per key in the state array: its balance, the instant up to which no token is added, and
 * the carried part of a token. The instant of the last refill follows from the latter two.
 */
const FIELDS = 3;
const BALANCE = 0;
const QUIET_UNTIL_NANOS = 1;
const CARRIED = 2;

/** The slot of all keys that come while `maxKeys` keys are held. */
const SHARED_SLOT = 0;

/** Held keys examined for eviction per new key. More than 1, so that the sweep catches up. */
const SWEEP_PER_NEW_KEY = 2;

/** A JavaScript `Map` holds at most 2^24 entries. */
const KEYS_MAX = 2 ** 24;

const ROWS_AT_START = 64;

/**
 * One token bucket per key, for many keys: the buckets are rows of one typed array, so a key costs
 * a map entry and 24 bytes.
 *
 * A key is forgotten once its bucket has filled up again. Keys that come while `maxKeys` others are
 * in use share one bucket: memory stays bounded, and inventing keys earns no larger limit.
 *
 * @example
 * const perUser = new KeyedBuckets({ rate: 100, periodMs: 60_000 });
 * if (!perUser.tryAcquire(userId)) reply(429, perUser.pauseMs(userId));
 */
export class KeyedBuckets {
  readonly #clock: Clock;
  readonly #options: RateOptions;
  #refill: Refill;
  #capacity = 0;
  #initialTokens = 0;
  readonly #maxKeys: number = 0;
  readonly #slots = new Map<string, number>();
  #state: Float64Array;
  readonly #freeSlots: number[] = [];
  #slotsUsed: number = SHARED_SLOT + 1;
  /** The instant of the call under way. */
  #nowNanos = 0;
  /** Cycles through the keys without end; a Map's iterator sees keys come and go. */
  #sweep: Iterator<[string, number]>;

  constructor(options: KeyedBucketsOptions) {
    requireRateOptions(options);
    const { clock = systemClock, maxKeys = 1_000_000 } = options;
    requireWhole("maxKeys", maxKeys, 1, KEYS_MAX);
    this.#clock = clock;
    this.#options = { ...options };
    this.#refill = refillOf(options);
    this.#capacity = options.capacity ?? options.rate;
    this.#initialTokens = initialTokensOf(options);
    if (this.#initialTokens > this.#capacity) {
      const found = `initialTokens is ${this.#initialTokens}`;
      throw new ConfigError(`${found}; it must be at most the capacity, ${this.#capacity}`);
    }
    this.#maxKeys = maxKeys;
    this.#state = new Float64Array(ROWS_AT_START * FIELDS);
    this.#sweep = this.#slots.entries();
    this.#nowNanos = toNanos(clock.now());
    this.#reset(SHARED_SLOT);
  }

  /** Number of keys held. */
  get size(): number {
    return this.#slots.size;
  }

  /** Takes `count` tokens of `key` if they are there, else none; as `TokenBucket.tryAcquire`. */
  tryAcquire(key: string, count: number = 1, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount("count of KeyedBuckets.tryAcquire", count);
    this.#readClock(nowMs);
    const row = this.#rowOf(key);
    if (!this.#holds(row, count)) return false;
    this.#state[row + BALANCE] = (this.#state[row + BALANCE] as number) - count;
    return true;
  }

  /**
   * Milliseconds until `tryAcquire(key, count)` is admitted if no tokens are taken meanwhile; 0 if it
   * is admitted now. For a count above the capacity: until the bucket is full. A key that is not held
   * begins to fill with its first `tryAcquire` or `chargeAndCheck`, not with this question.
   */
  pauseMs(key: string, count: number = 1, nowMs?: number): number {
    requireCount("count of KeyedBuckets.pauseMs", count);
    this.#readClock(nowMs);
    const target = Math.min(count, this.#capacity);
    const row = this.#rowIfHeld(key);
    if (row === undefined) {
      if (this.#initialTokens >= target) return 0;
      return this.#refill.nanosTo(target, this.#initialTokens, 0) / NANOS_PER_MS;
    }
    const tokens = this.#tokensOf(row);
    if (tokens >= target) return 0;
    const nanos = this.#refill.nanosTo(target, tokens, this.#refill.carried);
    return (Math.max(0, this.#refilledAtNanos(row) - this.#nowNanos) + nanos) / NANOS_PER_MS;
  }

  /** Takes `count` tokens of `key`, into debt if necessary; true while at least one is left. */
  chargeAndCheck(key: string, count: number = 1, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount("count of KeyedBuckets.chargeAndCheck", count);
    this.#readClock(nowMs);
    const row = this.#rowOf(key);
    const balance = Math.max((this.#state[row + BALANCE] as number) - count, -COUNT_MAX);
    this.#state[row + BALANCE] = balance;
    return balance > 0;
  }

  /** The balance of `key`, negative while in debt; of a key that is not held, its initial tokens. */
  tokens(key: string, nowMs?: number): number {
    this.#readClock(nowMs);
    const row = this.#rowIfHeld(key);
    return row === undefined ? this.#initialTokens : this.#tokensOf(row);
  }

  /**
   * Changes the rate of every key from now on, as `TokenBucket.setRate`. Takes time in proportion to
   * the keys held.
   */
  setRate(rate: number, nowMs?: number): void {
    requireRate(rate);
    this.#readClock(nowMs);
    const refill = refillOf(this.#options, rate);
    const capacity = this.#options.capacity ?? rate;
    for (const slot of [SHARED_SLOT, ...this.#slots.values()]) {
      const row = slot * FIELDS;
      this.#addElapsed(row);
      const refilledAtNanos = this.#refilledAtNanos(row);
      const carried = this.#refill.convert(this.#state[row + CARRIED] as number, refill);
      this.#state[row + BALANCE] = Math.min(this.#state[row + BALANCE] as number, capacity);
      this.#state[row + QUIET_UNTIL_NANOS] = refilledAtNanos + refill.quietNanos(carried);
      this.#state[row + CARRIED] = carried;
    }
    this.#refill = refill;
    this.#capacity = capacity;
    this.#initialTokens = Math.min(initialTokensOf({ ...this.#options, rate }), capacity);
  }

  /** Forgets every key whose bucket is full again; answers how many. */
  evictIdle(nowMs?: number): number {
    this.#readClock(nowMs);
    const before = this.#slots.size;
    for (const [key, slot] of this.#slots) this.#evictIfFull(key, slot);
    return before - this.#slots.size;
  }

  #readClock(nowMs: number | undefined): void {
    // The instant goes through a field: V8 boxes a number that comes from one of two places.
    if (nowMs === undefined) this.#nowNanos = toNanos(this.#clock.now());
    else this.#nowNanos = toNanos(nowMs);
  }

  /** The row of `key`, or of the keys that share one; undefined for a key that would get a new row. */
  #rowIfHeld(key: string): number | undefined {
    const slot = this.#slots.get(key);
    if (slot !== undefined) return slot * FIELDS;
    return this.#slots.size < this.#maxKeys ? undefined : SHARED_SLOT * FIELDS;
  }

  #rowOf(key: string): number {
    const row = (this.#slots.get(key) ?? this.#admit(key)) * FIELDS;
    if (this.#isDue(row)) this.#addElapsed(row);
    return row;
  }

  #isDue(row: number): boolean {
    return this.#nowNanos > (this.#state[row + QUIET_UNTIL_NANOS] as number);
  }

  /** Whether `count` tokens are there, or the bucket is full, exact to the nanosecond. */
  #holds(row: number, count: number): boolean {
    const target = Math.min(count, this.#capacity);
    if ((this.#state[row + BALANCE] as number) < target) this.#addElapsed(row);
    return (this.#state[row + BALANCE] as number) >= target;
  }

  #addElapsed(row: number): void {
    // Also false for NaN, which would make every later balance NaN.
    if (!(this.#nowNanos > this.#refilledAtNanos(row))) return;
    this.#state[row + BALANCE] = this.#tokensOf(row);
    this.#remember(row, this.#refill.carried);
  }

  /** The balance now; `#refill.carried` is then the fraction of a token beyond it. */
  #tokensOf(row: number): number {
    return Math.min(this.#filled(row), this.#capacity);
  }

  #refilledAtNanos(row: number): number {
    const quietNanos = this.#refill.quietNanos(this.#state[row + CARRIED] as number);
    return (this.#state[row + QUIET_UNTIL_NANOS] as number) - quietNanos;
  }

  /** What the balance would be by now without a capacity. */
  #filled(row: number): number {
    const balance = this.#state[row + BALANCE] as number;
    const carried = this.#state[row + CARRIED] as number;
    const refilledAtNanos = this.#refilledAtNanos(row);
    const untilNanos = this.#nowNanos > refilledAtNanos ? this.#nowNanos : refilledAtNanos;
    return this.#refill.addTo(balance, refilledAtNanos, untilNanos, carried);
  }

  #remember(row: number, carried: number): void {
    this.#state[row + QUIET_UNTIL_NANOS] = this.#nowNanos + this.#refill.quietNanos(carried);
    this.#state[row + CARRIED] = carried;
  }

  #admit(key: string): number {
    for (let i = 0; i < SWEEP_PER_NEW_KEY; i++) this.#sweepOne();
    if (this.#slots.size >= this.#maxKeys) return SHARED_SLOT;
    const slot = this.#freeSlots.pop() ?? this.#newSlot();
    this.#reset(slot);
    this.#slots.set(key, slot);
    return slot;
  }

  #newSlot(): number {
    const slot = this.#slotsUsed++;
    if ((slot + 1) * FIELDS > this.#state.length) {
      // An eighth more at a time: room not yet used costs each key at most 3 bytes.
      const grown = new Float64Array(Math.ceil(this.#slotsUsed * 1.125) * FIELDS);
      grown.set(this.#state);
      this.#state = grown;
    }
    return slot;
  }

  #reset(slot: number): void {
    this.#state[slot * FIELDS + BALANCE] = this.#initialTokens;
    this.#remember(slot * FIELDS, 0);
  }

  #sweepOne(): void {
    let next = this.#sweep.next();
    if (next.done === true) {
      this.#sweep = this.#slots.entries();
      next = this.#sweep.next();
    }
    if (next.done !== true) this.#evictIfFull(next.value[0], next.value[1]);
  }

  #evictIfFull(key: string, slot: number): void {
    const row = slot * FIELDS;
    // What the resolution still holds back from a key, a new bucket would give it at once.
    if (!this.#isDue(row) || this.#filled(row) < this.#capacity) return;
    this.#slots.delete(key);
    this.#freeSlots.push(slot);
  }
}
