/** Something that gathers what it writes until the turn of the event loop ends. */
export interface Flushable {
  flush(): void;
}

/** Flushes all that was written to in a turn at the end of it: one system call for many answers. */
export class FlushTurns {
  readonly #nextTurn: () => Promise<void>;
  #waiting: Flushable[] = [];

  constructor(nextTurn: () => Promise<void>) {
    this.#nextTurn = nextTurn;
  }

  /** To be called once before each flush. */
  add(flushable: Flushable): void {
    this.#waiting.push(flushable);
    if (this.#waiting.length === 1) void this.#flushAll();
  }

  async #flushAll(): Promise<void> {
    await this.#nextTurn();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const flushable of waiting) flushable.flush();
  }
}
