/** How much a service that was idle takes at once: what it takes in this time, two at least. */
const BURST_MS = 10;
const BURST_MIN = 2;

/** Takes or refuses requests at once; the answer comes when it comes. */
export interface BusyService {
  /** Whether a request that arrives is taken, by a service that now takes so many a second. */
  takes(nowMs: number, perSecond: number): boolean;
}

/** Takes requests evenly, so many a second, and at most 10 ms of them at once. */
export class EvenService implements BusyService {
  #tokens = BURST_MIN;
  #filledAtMs = 0;

  takes(nowMs: number, perSecond: number): boolean {
    const tokensMax = Math.max(BURST_MIN, (perSecond * BURST_MS) / 1000);
    const filled = this.#tokens + ((nowMs - this.#filledAtMs) * perSecond) / 1000;
    this.#tokens = Math.min(tokensMax, filled);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
