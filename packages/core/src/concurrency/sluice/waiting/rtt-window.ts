import { SETTLE_ROUND_TRIPS, WINDOW_PORTION, WINDOW_ROUND_TRIPS } from "../constants.ts";

/** A round trip that ended. */
interface RoundTrip {
  readonly rttMs: number;
  /** The mean of recent round trips, if that is shorter: a straggler must not delay the window. */
  readonly typicalMs: number;
  readonly weight: number;
}

/** Round trips that ended since the limit changed or since they were last judged. */
export class RttWindow {
  /** The limit was filled, or something did not fit, since the window began. */
  isReached = false;
  #rttsMs: number[] = [];
  #sumMs = 0;
  #weight = 0;
  #fromMs = 0;
  #isSettling = false;

  get rttsMs(): readonly number[] {
    return this.#rttsMs;
  }

  get count(): number {
    return this.#rttsMs.length;
  }

  get meanMs(): number {
    return this.#sumMs / this.#rttsMs.length;
  }

  /** Mean weight of an attempt; 1 while there is none. */
  get meanWeight(): number {
    return this.count === 0 ? 1 : this.#weight / this.count;
  }

  /** Attempts served a millisecond. */
  rate(nowMs: number): number {
    return nowMs > this.#fromMs ? this.count / (nowMs - this.#fromMs) : 0;
  }

  /**
   * Begins anew. `isSettling`: the limit has changed. Attempts that end before the number in flight has
   * followed, and for a round trip after that, started under the old limit and do not count.
   */
  restart(nowMs: number, isSettling: boolean): void {
    this.isReached = false;
    this.#rttsMs = [];
    this.#sumMs = 0;
    this.#weight = 0;
    this.#fromMs = nowMs;
    this.#isSettling = isSettling;
  }

  /** `isWithinLimit`: less than the limit is in flight now. */
  add({ rttMs, typicalMs, weight }: RoundTrip, nowMs: number, isWithinLimit: boolean): void {
    if (this.#isSettling) {
      const isLate = nowMs - this.#fromMs > SETTLE_ROUND_TRIPS * typicalMs;
      if (!isWithinLimit && !isLate) return;
      this.#isSettling = false;
      this.#fromMs = nowMs + typicalMs;
    }
    if (nowMs < this.#fromMs) return;
    this.#rttsMs.push(rttMs);
    this.#sumMs += rttMs;
    this.#weight += weight;
  }

  /** Whether to judge it now: from `countMin` round trips on, portion by portion. */
  isReady(countMin: number): boolean {
    const portion = Math.max(WINDOW_PORTION, Math.floor(countMin / WINDOW_PORTION));
    return this.count >= countMin && this.count % portion === 0;
  }

  /** Whether it gets no better: it has `countMax` round trips, or is as long as a window may be. */
  isFull(nowMs: number, countMax: number): boolean {
    return this.count >= countMax || nowMs - this.#fromMs >= WINDOW_ROUND_TRIPS * this.meanMs;
  }
}
