import type { Timer } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { AbortListener } from "@sluice/core/internal";

/** The reason of an abort that is no error: an error would capture a stack with every wait. */
const OVER = Symbol("the wait is over");

/** A signal that aborts after `ms` or with another signal. `end` frees the timer; it must be called once. */
export class Wait implements AbortListener {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;

  constructor(timer: Timer, ms: number, outer: AbortSignal) {
    this.#outer = outer;
    if (outer.aborted) {
      this.#controller.abort(outer.reason);
      return;
    }
    addAbortListener(outer, this);
    // One controller for both: its abort ends the sleep, and the end of the sleep aborts.
    timer.sleep(ms, this.#controller.signal).then(
      () => this.#controller.abort(OVER),
      () => undefined,
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  handleEvent(): void {
    this.#controller.abort(this.#outer.reason);
  }

  end(): void {
    removeAbortListener(this.#outer, this);
    this.#controller.abort(OVER);
  }
}
