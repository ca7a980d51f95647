/**
 * Calls that were begun and have not started: they wait in the gate's queue. Raised, a write holds the promises of more
 * calls, which the garbage collector copies while they wait, and begins with a longer burst, in which no answer is read.
 * Lowered to 1, the queue becomes empty with every call that starts, and the gate sets its wake-up anew for each.
 * Measured in `pulsar-http`.
 */
const WAITING_MAX = 16;

/** Begins calls in their order, and the next ones as earlier ones start. */
export class CallsInTurn {
  readonly #count: number;
  readonly #begin: (index: number) => void;
  #begun = 0;
  #waiting = 0;
  #isBeginning = false;

  /** `begin` starts one call and must not throw; each start is followed by one `onStarted`. */
  constructor(count: number, begin: (index: number) => void) {
    this.#count = count;
    this.#begin = begin;
  }

  /** Begins calls until enough of them wait. */
  run(): void {
    // A call may start while it is begun; the loop below goes on with the next.
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    while (this.#begun < this.#count && this.#waiting < WAITING_MAX) {
      this.#waiting++;
      this.#begin(this.#begun++);
    }
    this.#isBeginning = false;
  }

  /** A call waits no more: it has started, or it never will. */
  onStarted(): void {
    this.#waiting--;
    this.run();
  }
}
