import { Ewma } from "../ewma.ts";

/**
 * Round trips gathered into windows. Each window is as long as the moving mean of the windows before
 * it, and ends with the first attempt that ends after that time: no timer is needed.
 */
export class RttWindows {
  readonly #past: Ewma;
  #count = 0;
  #meanMs = 0;
  #dueAtMs = 0;

  constructor(ewmaAlpha: number) {
    this.#past = new Ewma(ewmaAlpha);
  }

  /** Mean of the current window; undefined if nothing was served in it. */
  get windowMs(): number | undefined {
    return this.#count === 0 ? undefined : this.#meanMs;
  }

  /** Moving mean of the windows before; undefined until something was served. */
  get pastMs(): number | undefined {
    return this.#past.mean;
  }

  get pastDeviationMs(): number {
    return Math.sqrt(this.#past.variance);
  }

  /** An attempt was served. The first one opens the first window. */
  add(rttMs: number, nowMs: number): void {
    this.#count++;
    this.#meanMs += (rttMs - this.#meanMs) / this.#count;
    if (this.#past.mean !== undefined) return;
    this.#past.update(rttMs);
    this.#dueAtMs = nowMs + rttMs;
  }

  /** Whether the window is over. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs;
  }

  startNext(nowMs: number): void {
    if (this.#count > 0) this.#past.update(this.#meanMs);
    this.#count = 0;
    this.#meanMs = 0;
    this.#dueAtMs = nowMs + (this.#past.mean ?? 0);
  }
}
