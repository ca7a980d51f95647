/** Pause before the second restart in a row, ms; it doubles with each further one. */
const FIRST_MS = 100;
/** Longest pause, ms. Raised, a map that can be started again is found later. */
const MAX_MS = 10_000;

/** How long a worker that ended stays down: the first restart is at once, further ones without success are not. */
export class RestartBackoff {
  readonly #maxMs: number;
  #failures = 0;

  constructor(maxMs: number = MAX_MS) {
    this.#maxMs = maxMs;
  }

  /** The worker did something useful. */
  onSuccess(): void {
    this.#failures = 0;
  }

  /** The pause before the next start: 0, 100, 200, 400 ms and so on. */
  nextMs(): number {
    const failures = this.#failures++;
    return failures === 0 ? 0 : Math.min(FIRST_MS * 2 ** (failures - 1), this.#maxMs);
  }
}
