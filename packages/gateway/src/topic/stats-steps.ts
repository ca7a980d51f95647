/**
 * Work that can be interrupted: it yields where other work may have a turn of the event loop. The same
 * work can be done at once.
 */
export type Steps<T> = Generator<undefined, T>;

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export async function inTurns<T>(steps: Steps<T>, nextTurn: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Producers and consumers after which other work gets a turn: to look at one takes about 1 µs. */
const ITEMS_PER_STEP = 1_000;

/** How much of the stats of one or many topics is listed one by one; the rest is counted. */
export class Listing {
  #left: number;
  #sinceStep = 0;

  constructor(listedMax: number = Infinity) {
    this.#left = listedMax;
  }

  /** Of so many producers or consumers, how many are listed. */
  take(count: number): number {
    const listed = Math.min(count, this.#left);
    this.#left -= listed;
    return listed;
  }

  /** So many were looked at, listed or not; yields if that was enough for one turn. */
  *passed(count: number): Steps<undefined> {
    this.#sinceStep += count + 1;
    if (this.#sinceStep < ITEMS_PER_STEP) return;
    this.#sinceStep = 0;
    yield;
  }
}
