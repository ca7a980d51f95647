import { Ewma } from "./ewma.ts";
import { Mean } from "./mean.ts";

/**
 * Round trips gathered into windows, each as long as the moving mean of all before it. Nothing
 * ticks: a window ends with the first attempt that ends after its time.
 */
export class RoundTrips {
  readonly #past: Ewma;
  readonly #window = new Mean();
  #dueAtMs = 0;

  constructor(ewmaAlpha: number) {
    this.#past = new Ewma(ewmaAlpha);
  }

  /** Mean of the window; undefined if nothing was served in it. */
  get windowMs(): number | undefined {
    return this.#window.value;
  }

  /** Moving mean of the windows before; undefined until something was served. */
  get pastMs(): number | undefined {
    return this.#past.mean;
  }

  get pastDeviationMs(): number {
    return Math.sqrt(this.#past.variance);
  }

  add(rttMs: number): void {
    this.#window.add(rttMs);
  }

  /** Whether the window is over. The first attempt served only opens the first one. */
  isDue(nowMs: number): boolean {
    if (this.#past.mean !== undefined) return nowMs >= this.#dueAtMs;
    const firstMs = this.#window.value;
    if (firstMs === undefined) return false;
    this.#past.update(firstMs);
    this.#dueAtMs = nowMs + firstMs;
    return false;
  }

  startNext(nowMs: number): void {
    const windowMs = this.#window.value;
    if (windowMs !== undefined) this.#past.update(windowMs);
    this.#window.clear();
    this.#dueAtMs = nowMs + (this.#past.mean ?? 0);
  }
}
