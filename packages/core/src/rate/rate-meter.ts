import { requireDuration, requireWhole } from "../errors.ts";
import type { Clock } from "../time.ts";

export interface RateMeterOptions {
  /** How far back the meter looks; 1000 unless given. */
  readonly windowMs?: number;
  /** Parts of the window; what it forgets, it forgets a part at a time. 20 unless given. */
  readonly slices?: number;
}

/**
 * Events per second over the last window. The part of the window now filling counts as far as it
 * has come, so a steady rate reads as itself at any instant.
 */
export class RateMeter {
  readonly #clock: Clock;
  readonly #sliceMs: number = 0;
  readonly #counts: Float64Array;
  readonly #startedAtMs: number = 0;
  /** Number of the newest slice, counted from the start of the clock. */
  #slice = 0;
  #total = 0;

  constructor(clock: Clock, options: RateMeterOptions = {}) {
    const { windowMs = 1000, slices = 20 } = options;
    requireDuration("windowMs", windowMs, 1);
    requireWhole("slices", slices, 1, 10_000);
    this.#clock = clock;
    this.#sliceMs = windowMs / slices;
    // One more than the window has: the newest is still filling.
    this.#counts = new Float64Array(slices + 1);
    this.#startedAtMs = clock.now();
    this.#slice = Math.floor(this.#startedAtMs / this.#sliceMs);
  }

  record(count: number, nowMs: number = this.#clock.now()): void {
    this.#forget(nowMs);
    const at = this.#indexOf(this.#slice);
    this.#counts[at] = (this.#counts[at] as number) + count;
    this.#total += count;
  }

  /** 0 until the meter has run for one slice: a rate over no time is not a rate. */
  perSecond(nowMs: number = this.#clock.now()): number {
    this.#forget(nowMs);
    const oldestAtMs = (this.#slice - this.#counts.length + 1) * this.#sliceMs;
    // A clock that stepped back must not shorten the span that the total was counted over.
    const untilMs = Math.max(nowMs, this.#slice * this.#sliceMs);
    const spanMs = untilMs - Math.max(oldestAtMs, this.#startedAtMs);
    return spanMs < this.#sliceMs ? 0 : (this.#total * 1000) / spanMs;
  }

  /** A clock may begin below zero. */
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
