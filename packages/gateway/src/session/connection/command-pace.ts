const WINDOW_MS = 1_000;

/** Counts commands by the second. A client that has used its second up waits for the next one. */
export class CommandPace {
  readonly #perWindow: number;
  #windowEndsAtMs: number;
  #count = 0;

  constructor(perSecond: number, nowMs: number) {
    this.#perWindow = perSecond;
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
  }

  get windowEndsAtMs(): number {
    return this.#windowEndsAtMs;
  }

  /** Counts one. False if it was the last one of this second. */
  count(nowMs: number): boolean {
    if (nowMs >= this.#windowEndsAtMs) {
      this.#windowEndsAtMs = nowMs + WINDOW_MS;
      this.#count = 0;
    }
    this.#count++;
    return this.#count < this.#perWindow;
  }
}
