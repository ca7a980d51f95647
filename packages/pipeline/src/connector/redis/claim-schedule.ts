/** The cursor of a whole scan. */
const START = "0-0";
/** How often dead consumers are looked for: `claimIdleMs / CLAIMS_WITHIN`, so a claim comes at most that much late. */
const CLAIMS_WITHIN = 4;
/** Longest pause between two scans, ms, however long `claimIdleMs` is. */
const PAUSE_MAX_MS = 15_000;

/** When messages of dead consumers are looked for, and where in the list of pending messages. */
export class ClaimSchedule {
  readonly #everyMs: number;
  #dueMs: number;
  #cursor = START;

  constructor(claimIdleMs: number, nowMs: number) {
    this.#everyMs = Math.min(claimIdleMs / CLAIMS_WITHIN, PAUSE_MAX_MS);
    this.#dueMs = nowMs;
  }

  /** Where the next `XAUTOCLAIM` starts. */
  get cursor(): string {
    return this.#cursor;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueMs;
  }

  inMs(nowMs: number): number {
    return Math.max(0, this.#dueMs - nowMs);
  }

  /** `next`: the server's cursor. A scan that is not at its end goes on at the next read. */
  claimed(next: string, nowMs: number): void {
    this.#cursor = next;
    if (next === START) this.#dueMs = nowMs + this.#everyMs;
  }

  /** A new scan at once: messages were given back. */
  hurry(nowMs: number): void {
    this.#cursor = START;
    this.#dueMs = nowMs;
  }
}
