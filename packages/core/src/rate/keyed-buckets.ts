import { COUNT_MAX, requireCount, requireDuration, requireWhole } from "../errors.ts";
import { NANOS_PER_MS, toNanos } from "../time.ts";
import type { Clock } from "../time.ts";
import { Refill } from "./refill.ts";

export interface KeyedBucketsOptions {
  /** Tokens per period for each key, whole. */
  readonly rate: number;
  readonly periodMs?: number;
  /** Most tokens a key gathers, and what a new key starts with; the rate unless given. */
  readonly capacity?: number;
  readonly resolutionMs?: number;
  /** Most keys held at once; 1,000,000 unless given. */
  readonly maxKeys?: number;
}

/**
 * Of one key in the state array: its balance, the instant up to which time brings it nothing, and
 * the carried part of a token. When it was last refilled follows from the latter two.
 */
const FIELDS = 3;
const BALANCE = 0;
const QUIET_UNTIL_NANOS = 1;
const CARRIED = 2;

/** The slot that newcomers share while there is no room for more keys. */
const SHARED_SLOT = 0;

/** Keys looked at for each key that comes: twice as many as arrive, so the sweep catches up. */
const SWEEP_PER_NEW_KEY = 2;

/**
 * One token bucket per key, for many keys: the buckets are rows of one typed array, so a key costs
 * a map entry and 24 bytes.
 *
 * A key is forgotten once its bucket has filled up again, when forgetting changes no answer by more
 * than the token it was about to gain. Newcomers that find `maxKeys` keys all in use share one
 * bucket among them: memory stays bounded, and a flood of keys earns nobody a larger limit.
 */
export class KeyedBuckets {
  readonly #clock: Clock;
  readonly #refill: Refill;
  readonly #capacity: number = 0;
  readonly #maxKeys: number = 0;
  readonly #slots = new Map<string, number>();
  #state: Float64Array;
  readonly #freeSlots: number[] = [];
  #slotsUsed: number = SHARED_SLOT + 1;
  /** The instant of the call under way. */
  #nowNanos = 0;
  /** Runs round the keys for ever; a Map's iterator sees keys come and go. */
  #sweep: Iterator<[string, number]>;

  constructor(clock: Clock, options: KeyedBucketsOptions) {
    const { rate, periodMs = 1000, resolutionMs = 16, maxKeys = 1_000_000 } = options;
    requireWhole("rate", rate, 1);
    requireDuration("periodMs", periodMs, 1 / NANOS_PER_MS);
    requireDuration("resolutionMs", resolutionMs);
    requireWhole("capacity", options.capacity ?? rate, 1);
    requireWhole("maxKeys", maxKeys, 1, 2 ** 24);
    this.#clock = clock;
    this.#refill = new Refill(rate, periodMs, resolutionMs);
    this.#capacity = options.capacity ?? rate;
    this.#maxKeys = maxKeys;
    this.#state = new Float64Array(64 * FIELDS);
    this.#sweep = this.#slots.entries();
    this.#nowNanos = toNanos(clock.now());
    this.#reset(SHARED_SLOT);
  }

  /** Keys now held. */
  get size(): number {
    return this.#slots.size;
  }

  /** Takes `count` tokens of `key` if they are there, else none; as `TokenBucket.tryAcquire`. */
  tryAcquire(key: string, count: number, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount(count);
    this.#readClock(nowMs);
    const row = this.#rowOf(key);
    const balance = this.#state[row + BALANCE] as number;
    if (balance < count && balance < this.#capacity) return false;
    this.#state[row + BALANCE] = balance - count;
    return true;
  }

  /** Takes `count` tokens of `key`, into debt if it must, and tells whether any are left. */
  chargeAndCheck(key: string, count: number, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount(count);
    this.#readClock(nowMs);
    const row = this.#rowOf(key);
    const balance = Math.max((this.#state[row + BALANCE] as number) - count, -COUNT_MAX);
    this.#state[row + BALANCE] = balance;
    return balance > 0;
  }

  /** The balance of `key`; of a key not held, what it would start with. */
  tokens(key: string, nowMs?: number): number {
    const slot = this.#slots.get(key) ?? this.#slotOfStranger();
    if (slot === undefined) return this.#capacity;
    this.#readClock(nowMs);
    return this.#state[this.#refilledRow(slot) + BALANCE] as number;
  }

  /** Milliseconds until `key` holds `until` tokens; 0 if it does. */
  pauseMs(key: string, until: number, nowMs?: number): number {
    requireCount(until);
    const balance = this.tokens(key, nowMs);
    if (balance >= until) return 0;
    return this.#refill.nanosFor(BigInt(until) - BigInt(balance)) / NANOS_PER_MS;
  }

  /** Forgets every key whose bucket is full again, and tells how many. */
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

  #rowOf(key: string): number {
    return this.#refilledRow(this.#slots.get(key) ?? this.#admit(key));
  }

  #slotOfStranger(): number | undefined {
    return this.#slots.size < this.#maxKeys ? undefined : SHARED_SLOT;
  }

  #refilledRow(slot: number): number {
    const row = slot * FIELDS;
    if (this.#isDue(row)) this.#addTokens(row);
    return row;
  }

  #isDue(row: number): boolean {
    return this.#nowNanos > (this.#state[row + QUIET_UNTIL_NANOS] as number);
  }

  #addTokens(row: number): void {
    this.#state[row + BALANCE] = Math.min(this.#filled(row), this.#capacity);
    this.#rest(row, this.#refill.carried);
  }

  /** What the balance would be by now without a capacity. */
  #filled(row: number): number {
    const balance = this.#state[row + BALANCE] as number;
    const carried = this.#state[row + CARRIED] as number;
    const quietUntilNanos = this.#state[row + QUIET_UNTIL_NANOS] as number;
    const refilledAtNanos = quietUntilNanos - this.#refill.quietNanos(carried);
    return this.#refill.addTo(balance, refilledAtNanos, this.#nowNanos, carried);
  }

  #rest(row: number, carried: number): void {
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
    this.#state[slot * FIELDS + BALANCE] = this.#capacity;
    this.#rest(slot * FIELDS, 0);
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
