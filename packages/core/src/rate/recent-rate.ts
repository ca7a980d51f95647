import { RateMeter } from "./rate-meter.ts";

/** How long a peak is remembered at least; at most twice that. */
const PEAK_MS = 1000;

/** Before there is anything to go by, a rate is taken over so long a time at least. */
const SPAN_MIN_MS = 100;

/** Events a second over the last second, and the highest that was lately. */
export class RecentRate {
  readonly #meter: RateMeter;
  #peak = 0;
  #peakBefore = 0;
  #peakSinceMs = 0;

  constructor(startMs: number) {
    this.#meter = new RateMeter({ now: () => startMs - SPAN_MIN_MS });
    this.#peakSinceMs = startMs;
  }

  /** The highest of the last seconds, or round trips if those are longer, up to the last event. */
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
