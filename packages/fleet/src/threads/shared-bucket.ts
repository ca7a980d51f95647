import { threadId } from "node:worker_threads";
import { ConfigError, InvariantError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { COUNT_MAX, requireCount } from "@sluice/core/internal";
import { threadClock } from "@sluice/core/system";
import { Accrual } from "./accrual.ts";
import type { Fill } from "./accrual.ts";
import { Fills } from "./fills.ts";
import { bytesFor } from "./layout.ts";
import { settingsOf, toMs, toNanos } from "./settings.ts";
import type { SharedBucketOptions, SharedBucketSettings } from "./settings.ts";
import { heldIndex, Stripes } from "./stripes.ts";

/** What another thread needs to attach: pass it by `workerData` or `postMessage`. */
export interface SharedBucketHandle {
  readonly memory: SharedArrayBuffer;
  readonly settings: SharedBucketSettings;
}

export interface AttachOptions {
  /** Must read the same in every thread. Default: `threadClock` of `@sluice/core/system`. */
  readonly clock?: Clock;
  /** The number by which `reclaim` finds this thread's stripe. Default: the `threadId`. */
  readonly owner?: number;
}

/**
 * Attempts of one call to fetch tokens that other threads hold. Another attempt is of use only if
 * other threads took what was fetched. Raised, a call spins longer under contention; lowered, it is
 * refused while tokens are left.
 */
const FETCH_ROUNDS = 16;

/**
 * A token bucket that all threads of a process share, in shared memory: no messages, no locks.
 *
 * Each thread spends from a stripe of its own, by one atomic step on a cache line that no other
 * thread writes. An empty stripe draws a batch from the pool. If the pool has too little, the call
 * fetches back what other threads hold, so an idle thread never withholds a token. Within any time,
 * all threads together are granted at most `capacity + ⌈rate × time⌉`, counted from the start even
 * `capacity + ⌊rate × time⌋`; and `granted + balance = issued`.
 *
 * A bucket is a rate of a gate of `@sluice/egress`. Waiters of one gate are served in order; among
 * the gates of several threads no order is kept.
 *
 * A thread that ends without `release` keeps its place among `maxThreads` until another thread calls
 * `reclaim`. The tokens that it held are available to all, except those of at most one batch, if the
 * thread ended while it moved them: these are lost, and the bucket fills up by as many fewer.
 *
 * @example
 * // Main thread:
 * const bucket = SharedBucket.create({ rate: 100 });
 * new Worker("./worker.js", { workerData: bucket.handle });
 * // worker.js:
 * const gate = createGate({ rate: SharedBucket.attach(workerData) });
 * await gate.run(() => fetch("https://api.example.com/"));
 */
export class SharedBucket {
  /** For `attach` in other threads. */
  readonly handle: SharedBucketHandle;
  /** For a gate: why its callers wait. */
  readonly reason = "rate";
  /** For a gate: the capacity. A call that wants more tokens waits for a full bucket only. */
  readonly countMax: number;
  readonly #clock: Clock;
  readonly #owner: number;
  readonly #stripe: number;
  readonly #stripes: Stripes;
  readonly #fills: Fills;
  readonly #accrual: Accrual;
  readonly #halves: Int32Array<SharedArrayBuffer>;
  readonly #heldIndex: number;
  /** No fill is due before this time. The hot path reads only this and the stripe. */
  #quietUntilMs: number = Number.NEGATIVE_INFINITY;
  /** The time for `#fill`; a field, since V8 boxes a number that is passed as an argument. */
  #nowMs = 0;
  /** Until the next fill all threads together have fewer tokens than this. */
  #shortOf = COUNT_MAX;
  #released = false;

  private constructor(handle: SharedBucketHandle, accrual: Accrual, options: AttachOptions) {
    const { memory, settings } = handle;
    const { maxThreads } = settings;
    this.handle = handle;
    this.countMax = settings.capacity;
    this.#clock = options.clock ?? threadClock;
    this.#owner = options.owner ?? threadId;
    this.#stripes = new Stripes(memory, maxThreads);
    const stripe = this.#stripes.claim(this.#owner);
    if (stripe === undefined) {
      throw new ConfigError(
        `${maxThreads} threads are attached, the most that the bucket was created for; raise maxThreads, or reclaim the stripes of threads that have ended`,
      );
    }
    this.#stripe = stripe;
    this.#fills = new Fills(memory, maxThreads);
    this.#accrual = accrual;
    this.#halves = new Int32Array(memory);
    this.#heldIndex = heldIndex(stripe);
  }

  /** A full bucket, to which this thread is attached. */
  static create(options: SharedBucketOptions & AttachOptions): SharedBucket {
    const { clock = threadClock } = options;
    const settings = settingsOf(options, clock.now());
    const memory = new SharedArrayBuffer(bytesFor(settings.maxThreads));
    const accrual = accrualOf(settings);
    new Fills(memory, settings.maxThreads).start(accrual.first());
    return new SharedBucket({ memory, settings }, accrual, options);
  }

  /** The bucket that another thread made. Throws a ConfigError if `maxThreads` are attached. */
  static attach(handle: SharedBucketHandle, options: AttachOptions = {}): SharedBucket {
    return new SharedBucket(handle, accrualOf(handle.settings), options);
  }

  /**
   * Takes `count` tokens, or none if there are fewer: always, if `count` exceeds the capacity.
   * `nowMs` spares reading the clock; it must be a reading of this bucket's clock.
   */
  tryAcquire(count: number = 1, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount("count of SharedBucket.tryAcquire", count);
    this.#touch(nowMs);
    if (this.#spendHeld(count)) return true;
    return count < this.#shortOf && this.#take(count);
  }

  /**
   * For a gate: `tryAcquire` by the bucket's own clock, since a gate has another. A count above the
   * capacity empties a full bucket, and the rest is debt.
   */
  tryTake(count: number): boolean {
    const { capacity } = this.handle.settings;
    if (count <= capacity) return this.tryAcquire(count);
    if (!this.tryAcquire(capacity)) return false;
    this.charge(count - capacity);
    return true;
  }

  /**
   * Takes `count` tokens whether they are there or not; the missing ones are debt. Debt beyond 2^53
   * tokens is forgiven. `nowMs` as for `tryAcquire`.
   */
  charge(count: number, nowMs?: number): void {
    if (count >>> 0 !== count) requireCount("count of SharedBucket.charge", count);
    this.#touch(nowMs);
    if (this.#spendHeld(count)) return;
    if (count < this.#shortOf && this.#take(count)) return;
    this.#stripes.fetchAll();
    const takenMax = this.#fills.read().issued + BigInt(COUNT_MAX);
    this.#stripes.owe(this.#stripe, BigInt(count), takenMax);
  }

  /**
   * Milliseconds until there are `until` tokens, if no thread takes any meanwhile; 0 if they are
   * there. There are never more than the capacity. Default: 1 token.
   */
  pauseMs(until: number = 1): number {
    requireCount("count of SharedBucket.pauseMs", until);
    this.#touch(undefined);
    const fill = this.#fills.read();
    const missing = BigInt(until) - this.#stripes.obtainable(fill.issued);
    if (missing <= 0n) return 0;
    const nowNanos = BigInt(toNanos(this.#nowMs));
    return toMs(this.#accrual.instantFor(fill, missing) - nowNanos);
  }

  /** Tokens that all threads together could take; negative in debt. Tokens on the move are left out. */
  balance(): number {
    this.#touch(undefined);
    return Number(this.#stripes.obtainable(this.#fills.read().issued));
  }

  /** Puts the tokens that this thread holds back into the pool, so that others need not fetch them. */
  flush(): void {
    this.#refuseReleased();
    this.#stripes.fetch(this.#stripe);
  }

  /** Detaches this thread and gives its tokens back. This object can then no longer be used. */
  release(): void {
    if (this.#released) return;
    this.#stripes.free(this.#stripe, this.#owner);
    this.#released = true;
    // Makes every other method reach the check for a released bucket.
    this.#quietUntilMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Detaches a thread that ended without `release`, by its `threadId`. A `Worker` has its `threadId`
   * only while it runs, so keep a copy. Must not be called for a thread that still runs.
   */
  reclaim(owner: number): void {
    this.#refuseReleased();
    for (const stripe of this.#stripes.ownedBy(owner)) this.#stripes.free(stripe, owner);
  }

  #spendHeld(count: number): boolean {
    const held = Atomics.load(this.#halves, this.#heldIndex);
    if (held < count) return false;
    const left = held - count;
    return Atomics.compareExchange(this.#halves, this.#heldIndex, held, left) === held;
  }

  #take(count: number): boolean {
    const wanted = BigInt(count);
    for (let round = 0; round < FETCH_ROUNDS; round++) {
      const { issued } = this.#fills.read();
      if (this.#stripes.draw(this.#stripe, wanted, issued)) return true;
      if (this.#stripes.obtainable(issued) < wanted) break;
      this.#stripes.fetchAll();
    }
    this.#rememberShort(count);
    return false;
  }

  /** Tokens come only by fills, so a refused count stays refused until the next fill. */
  #rememberShort(count: number): void {
    const { issued } = this.#fills.read();
    if (this.#stripes.unspent(issued) < BigInt(count)) this.#shortOf = count;
  }

  #touch(nowMs: number | undefined): void {
    this.#nowMs = nowMs ?? this.#clock.now();
    if (this.#nowMs > this.#quietUntilMs) this.#fill();
  }

  /** Adds the tokens that are due, unless another thread did so within the gap. */
  #fill(): void {
    this.#refuseReleased();
    const nowNanos = BigInt(toNanos(this.#nowMs));
    for (;;) {
      const fill = this.#fills.read();
      const quietNanos = fill.atNanos + this.#accrual.gapNanos(fill);
      if (nowNanos <= quietNanos) {
        // One nanosecond early: the exact comparison is the one above.
        this.#quietUntilMs = toMs(quietNanos - 1n);
        this.#shortOf = COUNT_MAX;
        return;
      }
      const next: Fill = this.#accrual.next(fill, nowNanos, this.#stripes.unspent(fill.issued));
      this.#fills.replace(fill, next, this.#stripe);
    }
  }

  #refuseReleased(): void {
    if (this.#released) throw new InvariantError("this thread has released the bucket");
  }
}

function accrualOf(settings: SharedBucketSettings): Accrual {
  return new Accrual({ ...settings, startNanos: BigInt(settings.startNanos) });
}
