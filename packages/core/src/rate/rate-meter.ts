import { requireCount, requireDuration, requireWhole } from "../errors.ts";
import { systemClock } from "../system.ts";
import { SECOND_MS } from "../time.ts";
import type { Clock } from "../time.ts";

export interface RateMeterOptions {
  /**
   * Duration of the sliding window in milliseconds.
   * @default 1000
   */
  readonly windowMs?: number;
  /**
   * Number of slices that the window has. Events are forgotten one slice at a time; more slices make
   * the rate smoother and cost 8 bytes each.
   * @default 20
   */
  readonly slices?: number;
  /**
   * Where the time comes from.
   * @default the monotonic system clock
   */
  readonly clock?: Clock;
}

/**
 * Events per second over the last window. The slice that is filling counts for the time it has
 * lasted, so a steady rate reads as itself at any instant.
 *
 * @example
 * const meter = new RateMeter();
 * meter.record();
 * console.log(meter.perSecond());
 */
export class RateMeter {
  readonly #clock: Clock;
  readonly #sliceMs: number = 0;
  readonly #counts: Float64Array;
  readonly #startedAtMs: number = 0;
  /** Number of the newest slice, counted from the start of the clock. */
  #slice = 0;
  #total = 0;

  constructor(options: RateMeterOptions = {}) {
    const { windowMs = SECOND_MS, slices = 20, clock = systemClock } = options;
    requireDuration("windowMs", windowMs, 1);
    requireWhole("slices", slices, 1, 10_000);
    this.#clock = clock;
    this.#sliceMs = windowMs / slices;
    // One slice more than the window has: the newest is still filling.
    this.#counts = new Float64Array(slices + 1);
    this.#startedAtMs = clock.now();
    this.#slice = Math.floor(this.#startedAtMs / this.#sliceMs);
  }

  record(count: number = 1, nowMs: number = this.#clock.now()): void {
    requireCount("count of RateMeter.record", count);
    this.#forget(nowMs);
    const at = this.#indexOf(this.#slice);
    this.#counts[at] = (this.#counts[at] as number) + count;
    this.#total += count;
  }

  /** 0 until the meter has run for one slice: before that there is no time to divide by. */
  perSecond(nowMs: number = this.#clock.now()): number {
    this.#forget(nowMs);
    const oldestAtMs = (this.#slice - this.#counts.length + 1) * this.#sliceMs;
    // A clock that stepped back must not shorten the span that the total was counted over.
    const untilMs = Math.max(nowMs, this.#slice * this.#sliceMs);
    const spanMs = untilMs - Math.max(oldestAtMs, this.#startedAtMs);
    return spanMs < this.#sliceMs ? 0 : (this.#total * SECOND_MS) / spanMs;
  }

  /** A slice's place in the ring. Slices are negative if the clock begins below zero. */
  #indexOf(slice: number): number {
    const { length } = this.#counts;
    return ((slice % length) + length) % length;
  }

  #forget(nowMs: number): void {
    const slice = Math.floor(nowMs / this.#sliceMs);
    if (slice <= this.#slice) return;
    if (slice - this.#slice >= this.#counts.length) {
      this.#counts.fill(0);
      this.#total = 0;
    } else {
      for (let passed = this.#slice + 1; passed <= slice; passed++) {
        const at = this.#indexOf(passed);
        this.#total -= this.#counts[at] as number;
        this.#counts[at] = 0;
      }
    }
    this.#slice = slice;
  }
}
