/** Which numbers in flight were tried, and the highest that was served. */
export class Tried {
  readonly #max: number;
  /** When each number, the index, was first in flight. */
  readonly #firstAtMs: number[] = [];
  #maxServed = 0;

  /** `max`: the highest number to remember. */
  constructor(max: number) {
    this.#max = max;
  }

  onStart(nowMs: number, inFlight: number): void {
    // More than the limit can be in flight: a heavy attempt alone, or a limit that was lowered.
    const known = Math.min(inFlight, this.#max);
    while (this.#firstAtMs.length <= known) this.#firstAtMs.push(nowMs);
  }

  onServed(inFlightAtStart: number): void {
    this.#maxServed = Math.max(this.#maxServed, inFlightAtStart);
  }

  /** Whether the attempt that started then was the first with that number in flight. */
  isFirst(startedAtMs: number, inFlightAtStart: number): boolean {
    return this.#firstAtMs[inFlightAtStart] === startedAtMs;
  }

  /** The highest number that was served, at least 1; undefined if the lost attempt had no more. */
  servedBelow(inFlightAtStart: number): number | undefined {
    const served = Math.max(1, this.#maxServed);
    return inFlightAtStart > served ? served : undefined;
  }

  /** Numbers above `inFlight` count as never tried. */
  forgetAbove(inFlight: number): void {
    this.#maxServed = Math.min(this.#maxServed, inFlight);
    this.#firstAtMs.length = Math.min(this.#firstAtMs.length, inFlight + 1);
  }
}
