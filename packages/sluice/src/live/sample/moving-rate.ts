/**
 * Time that a shown rate is the mean of, ms. Batches come in lumps, so the rate of a single sample of 500 ms jumps between
 * 0 and twice the mean. Raised, a page shows a change later.
 */
const WINDOW_MS = 3_000;

/** Counts that are kept, however often it is asked: one more than the samples of a window. */
const POINTS_MAX = 7;

const MS_PER_SECOND = 1_000;

interface Point {
  readonly atMs: number;
  readonly count: number;
}

/** The rate at which a counter grew in the last three seconds, or since the start if that is less long ago. */
export class MovingRate {
  #points: Point[];

  constructor(atMs: number, count: number) {
    this.#points = [{ atMs, count }];
  }

  /** Adds what the counter shows now. Answers its growth a second; 0 if it was set back or no time has passed. */
  next(atMs: number, count: number): number {
    this.#points.push({ atMs, count });
    // The first point may be as old as the window; what is older says nothing of it.
    while (this.#points.length > 2 && this.#isOld(atMs)) this.#points.shift();
    const first = this.#points[0];
    if (first === undefined || atMs <= first.atMs || count < first.count) {
      this.#points = [{ atMs, count }];
      return 0;
    }
    return ((count - first.count) * MS_PER_SECOND) / (atMs - first.atMs);
  }

  #isOld(nowMs: number): boolean {
    const second = this.#points[1];
    return (
      this.#points.length > POINTS_MAX || (second !== undefined && nowMs - second.atMs >= WINDOW_MS)
    );
  }
}
