/** Something that gathers what it writes until the turn of the event loop ends. */
export interface Flushable {
  flush(): void;
}

/** Flushes all that was written to in a turn at the end of it: one system call for many answers. */
export class FlushTurns {
  readonly #nextTurn: () => Promise<void>;
  #waiting: Flushable[] = [];
  #isPlanned = false;

  constructor(nextTurn: () => Promise<void>) {
    this.#nextTurn = nextTurn;
  }

  /** To be called once before each flush. */
  add(flushable: Flushable): void {
    this.#waiting.push(flushable);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    void this.#flushAll();
  }

  async #flushAll(): Promise<void> {
    await this.#nextTurn();
    this.#isPlanned = false;
    this.flush();
  }

  /** Flushes what was written so far, without waiting for the end of the turn. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const flushable of waiting) flushable.flush();
  }
}
