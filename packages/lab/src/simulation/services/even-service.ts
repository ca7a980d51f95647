/**
 * Burst of an idle service: its capacity in 10 ms, and at least two requests. Longer bursts make a
 * probe above the capacity cheaper.
 */
const BURST_MS = 10;
const BURST_MIN = 2;

/** Decides at arrival whether a request is taken; the simulation delivers the answer later. */
export interface BusyService {
  /** Whether a request that arrives now is taken, given the present capacity. */
  takes(nowMs: number, perSecond: number): boolean;
}

/**
 * A token bucket of the capacity: takes requests evenly, at most 10 ms of the capacity at once.
 *
 * @example
 * const service = new EvenService();
 * const isTaken = service.takes(loop.now(), 2000); // at a capacity of 2000 requests a second
 */
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
