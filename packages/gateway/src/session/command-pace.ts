const WINDOW_MS = 1_000;

/** Counts commands by the second. A client that has used its second up waits for the next one. */
export class CommandPace {
  readonly #perWindow: number;
  #windowBeganAtMs: number;
  #count = 0;

  constructor(perSecond: number, nowMs: number) {
    this.#perWindow = perSecond;
    this.#windowBeganAtMs = nowMs;
  }

  /** Counts one. False if it was the last one of this second. */
  count(nowMs: number): boolean {
    this.isOver(nowMs);
    this.#count++;
    return this.#count < this.#perWindow;
  }

  /** Whether the second that was used up is over. */
  isOver(nowMs: number): boolean {
    if (nowMs - this.#windowBeganAtMs < WINDOW_MS) return false;
    this.#windowBeganAtMs = nowMs;
    this.#count = 0;
    return true;
  }
}
