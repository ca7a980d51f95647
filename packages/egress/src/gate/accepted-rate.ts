/** A rate is taken over one to two such windows. */
const WINDOW_MS = 1000;

/** And over no less than this: the first answers of a burst come all at once. */
const SPAN_MIN_MS = 250;

/** Calls served a second, of late. Costs two additions for each, so that it can always be kept. */
export class AcceptedRate {
  #sinceMs: number;
  #count = 0;
  #beforeMs = 0;
  #beforeCount = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  record(nowMs: number): void {
    if (nowMs - this.#sinceMs >= WINDOW_MS) this.#roll(nowMs);
    this.#count++;
  }

  /** Leaves a time out in which nothing is sent. */
  skip(ms: number): void {
    this.#sinceMs += ms;
  }

  perSecond(nowMs: number): number {
    const spanMs = this.#beforeMs + nowMs - this.#sinceMs;
    return ((this.#beforeCount + this.#count) * 1000) / Math.max(SPAN_MIN_MS, spanMs);
  }

  #roll(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    // After a time without calls, what was before it says nothing any more.
    const isStale = elapsedMs >= 2 * WINDOW_MS;
    this.#beforeMs = isStale ? 0 : elapsedMs;
    this.#beforeCount = isStale ? 0 : this.#count;
    this.#count = 0;
    this.#sinceMs = nowMs;
  }
}
