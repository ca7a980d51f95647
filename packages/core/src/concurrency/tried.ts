/** Which numbers in flight were tried, and what came of it, since the limit was last below them. */
export class Tried {
  readonly #max: number;
  /** When so many were first in flight, by their number. */
  readonly #firstAtMs: number[] = [];
  /** The most with which an attempt was served. */
  #servedAt = 0;

  constructor(max: number) {
    this.#max = max;
  }

  onStart(nowMs: number, inFlight: number): void {
    // More can be in flight than the limit: one heavy attempt, or a limit that was lowered.
    const known = Math.min(inFlight, this.#max);
    while (this.#firstAtMs.length <= known) this.#firstAtMs.push(nowMs);
  }

  onServed(inFlightAtStart: number): void {
    this.#servedAt = Math.max(this.#servedAt, inFlightAtStart);
  }

  /** Whether an attempt was the first with so many in flight. */
  isFirst(startedAtMs: number, inFlightAtStart: number): boolean {
    return this.#firstAtMs[inFlightAtStart] === startedAtMs;
  }

  /** The most that was served, if an attempt that was lost had more; 1 at least. */
  servedBelow(inFlightAtStart: number): number | undefined {
    if (inFlightAtStart <= Math.max(1, this.#servedAt)) return undefined;
    return Math.max(1, this.#servedAt);
  }

  /** All beyond so many counts as never tried. */
  forgetAbove(inFlight: number): void {
    this.#servedAt = Math.min(this.#servedAt, inFlight);
    this.#firstAtMs.length = Math.min(this.#firstAtMs.length, inFlight + 1);
  }
}
