import { RateMeter } from "./rate-meter.ts";

/**
 * A peak is remembered for at least this many milliseconds, or two round trips, and at most twice
 * that. Raising it keeps old peaks longer.
 */
const PEAK_MS = 1000;

/**
 * Milliseconds that the meter counts as run when it starts. Raising it lowers the first rates that
 * are read; without it a first pair of events would read as an extreme rate.
 */
const SPAN_MIN_MS = 100;

/** Events per second over the last second, and the recent peak of that rate. */
export class RecentRate {
  readonly #meter: RateMeter;
  #peak = 0;
  #peakBefore = 0;
  #peakSinceMs = 0;

  constructor(startMs: number) {
    this.#meter = new RateMeter({ clock: { now: () => startMs - SPAN_MIN_MS } });
    this.#peakSinceMs = startMs;
  }

  /** The highest rate since one to two times max(1 s, 2 round trips) before the last event. */
  get peak(): number {
    return Math.max(this.#peak, this.#peakBefore);
  }

  perSecond(nowMs: number): number {
    return this.#meter.perSecond(nowMs);
  }

  record(nowMs: number, rttMs: number): void {
    this.#meter.record(1, nowMs);
    const peakMs = Math.max(PEAK_MS, 2 * rttMs);
    const elapsedMs = nowMs - this.#peakSinceMs;
    if (elapsedMs >= peakMs) {
      this.#peakBefore = elapsedMs >= 2 * peakMs ? 0 : this.#peak;
      this.#peak = 0;
      this.#peakSinceMs = nowMs;
    }
    this.#peak = Math.max(this.#peak, this.#meter.perSecond(nowMs));
  }
}
