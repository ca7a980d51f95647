import { threadId } from "node:worker_threads";
import { ConfigError, InvariantError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { COUNT_MAX } from "@sluice/core/internal";
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
  /** `threadClock`: one that reads the same in every thread. */
  readonly clock: Clock;
  /** Whom `reclaim` knows the stripe by; the id of this thread unless given. */
  readonly owner?: number;
}

/** Only others that take what was fetched make another round useful. */
const FETCH_ROUNDS = 16;

/**
 * A token bucket that all threads of a process share, in memory that they share.
 *
 * Each thread spends from a stripe of its own, by one atomic step on a cache line that nobody else
 * writes; when it is empty the thread draws a batch from the pool, and when that is too little for a
 * call it fetches back what the others hold. So a token is refused to nobody for being held by an
 * idle thread, and no balance is ever guessed: over any stretch, all threads together are granted
 * at most capacity + ⌈rate × time⌉, from the start even capacity + ⌊rate × time⌋, and granted +
 * balance = issued. A grant counts for some instant between the call and its return.
 *
 * All threads must have one clock: `threadClock` of `@sluice/core/system`. A clock that lags, such
 * as a cached one, adds its lag to the stretch of time.
 *
 * A thread that ends without `release` keeps its place among `maxThreads` until another calls
 * `reclaim`; what it held is for all, but for the tokens of at most one batch, if it ended while it
 * moved them. These stay lost and count as unspent, so the bucket fills up by so many fewer.
 */
export class SharedBucket {
  /** What other threads attach by. */
  readonly handle: SharedBucketHandle;
  readonly #clock: Clock;
  readonly #owner: number;
  readonly #stripe: number;
  readonly #stripes: Stripes;
  readonly #fills: Fills;
  readonly #accrual: Accrual;
  readonly #halves: Int32Array<SharedArrayBuffer>;
  readonly #heldIndex: number;
  /** Up to here there is no other fill: with the stripe, all that the hot path looks at. */
  #quietUntilMs: number = Number.NEGATIVE_INFINITY;
  /** The instant for which `#fill` is called: V8 boxes a number that is handed on. */
  #nowMs = 0;
  /** Until the next fill there are fewer tokens than this, wherever one looks. */
  #shortOf = COUNT_MAX;
  #released = false;

  private constructor(handle: SharedBucketHandle, accrual: Accrual, options: AttachOptions) {
    const { memory, settings } = handle;
    const { maxThreads } = settings;
    this.handle = handle;
    this.#clock = options.clock;
    this.#owner = options.owner ?? threadId;
    this.#stripes = new Stripes(memory, maxThreads);
    const stripe = this.#stripes.claim(this.#owner);
    if (stripe === undefined) {
      throw new ConfigError(`maxThreads is ${maxThreads}, and so many threads are attached`);
    }
    this.#stripe = stripe;
    this.#fills = new Fills(memory, maxThreads);
    this.#accrual = accrual;
    this.#halves = new Int32Array(memory);
    this.#heldIndex = heldIndex(stripe);
  }

  /** A full bucket, to which this thread is attached. */
  static create(options: SharedBucketOptions & AttachOptions): SharedBucket {
    const settings = settingsOf(options, options.clock.now());
    const memory = new SharedArrayBuffer(bytesFor(settings.maxThreads));
    const accrual = accrualOf(settings);
    new Fills(memory, settings.maxThreads).start(accrual.first());
    return new SharedBucket({ memory, settings }, accrual, options);
  }

  /** The bucket that another thread made. Throws a ConfigError if `maxThreads` are attached. */
  static attach(handle: SharedBucketHandle, options: AttachOptions): SharedBucket {
    return new SharedBucket(handle, accrualOf(handle.settings), options);
  }

  /**
   * Takes `count` tokens if they are there, else none. More than the capacity never are. Needs the
   * time, as every method that takes `nowMs`; it must come from this bucket's clock.
   */
  tryAcquire(count: number, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount(count);
    this.#touch(nowMs);
    if (this.#spendHeld(count)) return true;
    return count < this.#shortOf && this.#take(count);
  }

  /** Takes `count` tokens, into debt if it must; at most 2^53 of debt, beyond it is forgiven. */
  charge(count: number, nowMs?: number): void {
    if (count >>> 0 !== count) requireCount(count);
    this.#touch(nowMs);
    if (this.#spendHeld(count)) return;
    if (count < this.#shortOf && this.#take(count)) return;
    this.#stripes.fetchAll();
    const takenMax = this.#fills.read().issued + BigInt(COUNT_MAX);
    this.#stripes.owe(this.#stripe, BigInt(count), takenMax);
  }

  /**
   * Milliseconds until there are `until` tokens, 1 unless given; 0 if there are. Whoever waits that
   * long finds them if nobody else took any. More than the capacity never are.
   */
  pauseMs(until: number = 1, nowMs?: number): number {
    requireCount(until);
    this.#touch(nowMs);
    const fill = this.#fills.read();
    const missing = BigInt(until) - this.#stripes.obtainable(fill.issued);
    if (missing <= 0n) return 0;
    const nowNanos = BigInt(toNanos(this.#nowMs));
    return toMs(this.#accrual.instantFor(fill, missing) - nowNanos);
  }

  /** What all threads together could take, negative while in debt; while others move some, less. */
  balance(nowMs?: number): number {
    this.#touch(nowMs);
    return Number(this.#stripes.obtainable(this.#fills.read().issued));
  }

  /** Puts what this thread holds back into the pool, which spares others from fetching it. */
  flush(): void {
    this.#refuseReleased();
    this.#stripes.fetch(this.#stripe);
  }

  /** Gives everything back. The bucket stays for the others; only this object can do no more. */
  release(): void {
    if (this.#released) return;
    this.#stripes.free(this.#stripe, this.#owner);
    this.#released = true;
    // Every other method looks at the time and, finding it later than this, looks further.
    this.#quietUntilMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Gives back what a thread that has ended did not, by its `threadId`, to be remembered from before
   * it ended. Must not be called for one that still runs.
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

  /** Only fills bring tokens, so who is refused for want of any need not look again before one. */
  #rememberShort(count: number): void {
    const { issued } = this.#fills.read();
    if (this.#stripes.unspent(issued) < BigInt(count)) this.#shortOf = count;
  }

  #touch(nowMs: number | undefined): void {
    this.#nowMs = nowMs ?? this.#clock.now();
    if (this.#nowMs > this.#quietUntilMs) this.#fill();
  }

  /** Adds what time has brought, unless another thread did within the gap. */
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

function requireCount(count: number): void {
  if (count >= 0 && count <= COUNT_MAX && Number.isInteger(count)) return;
  throw new InvariantError("a count is whole");
}
