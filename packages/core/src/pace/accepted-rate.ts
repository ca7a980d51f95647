/** The length of a window, in ms; the rate is taken over one to two windows. Longer, it follows later. */
const WINDOW_MS = 1000;

/**
 * The shortest time that a rate is taken over, in ms. The first answers of a burst come all at once: 20
 * answers within 1 ms are then 80 a second and not 20,000.
 */
const SPAN_MIN_MS = 250;

/** Calls served per second, lately. Counting a call costs two additions, so that every call is counted. */
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

  /** Leaves out a time in which nothing is sent. */
  skip(ms: number): void {
    this.#sinceMs += ms;
  }

  perSecond(nowMs: number): number {
    const spanMs = this.#beforeMs + nowMs - this.#sinceMs;
    return ((this.#beforeCount + this.#count) * 1000) / Math.max(SPAN_MIN_MS, spanMs);
  }

  #roll(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    // After two windows without a call the previous window is too old to count.
    const isStale = elapsedMs >= 2 * WINDOW_MS;
    this.#beforeMs = isStale ? 0 : elapsedMs;
    this.#beforeCount = isStale ? 0 : this.#count;
    this.#count = 0;
    this.#sinceMs = nowMs;
  }
}
