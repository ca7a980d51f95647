/** A window that has lasted for so many round trips is the longest. */
const ROUND_TRIPS_MAX = 8;
/** The number in flight follows a lower limit within so many; or not at all. */
const SETTLE_ROUND_TRIPS = 20;
/** They are looked at in portions of this size, many of them in as many portions. */
const PORTION = 8;

/** The round trips that ended since the limit last changed, or since they were last judged. */
export class RttWindow {
  #rttsMs: number[] = [];
  #sumMs = 0;
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

  /** Completions a millisecond. */
  rate(nowMs: number): number {
    return nowMs > this.#fromMs ? this.#rttsMs.length / (nowMs - this.#fromMs) : 0;
  }

  restart(nowMs: number): void {
    this.#rttsMs = [];
    this.#sumMs = 0;
    this.#fromMs = nowMs;
    this.#isSettling = false;
  }

  /**
   * The same after the limit has changed. What ends until the number in flight has followed, and
   * for a round trip after that, was started under the old limit and does not count.
   */
  restartSettling(nowMs: number): void {
    this.restart(nowMs);
    this.#isSettling = true;
  }

  /** `typicalMs`: what a round trip takes; a straggler must not make the window deaf. */
  add(
    { rttMs, typicalMs }: { readonly rttMs: number; readonly typicalMs: number },
    nowMs: number,
    isWithinLimit: boolean,
  ): void {
    if (this.#isSettling) {
      // More may stay in flight than the limit: whoever only watches does not keep to it.
      const isLate = nowMs - this.#fromMs > SETTLE_ROUND_TRIPS * typicalMs;
      if (!isWithinLimit && !isLate) return;
      this.#isSettling = false;
      this.#fromMs = nowMs + typicalMs;
    }
    if (nowMs < this.#fromMs) return;
    this.#rttsMs.push(rttMs);
    this.#sumMs += rttMs;
  }

  /** Whether it is worth a look now: with `countMin` at least, and then at every portion. */
  isReady(countMin: number): boolean {
    return (
      this.count >= countMin && this.count % Math.max(PORTION, Math.floor(countMin / PORTION)) === 0
    );
  }

  /** Whether it has `countMax`, or is as long as it gets: whatever it says must do. */
  isFull(nowMs: number, countMax: number): boolean {
    return this.count >= countMax || nowMs - this.#fromMs >= ROUND_TRIPS_MAX * this.meanMs;
  }
}
