import type { Timer } from "@sluice/core";

/** Why a sleep is given up. One for all: making an error costs more than all else here. */
const NOT_NEEDED = new Error("not needed any more");

/**
 * Rings once at an instant, unless it is set anew or cleared before. Setting it later than it is
 * set costs nothing: the sleep goes on, and lies down again when it has woken too early.
 */
export class Alarm {
  readonly #timer: Timer;
  readonly #ring: (nowMs: number) => void;
  #sleep: AbortController | undefined;
  #sleepUntilMs = 0;
  #dueAtMs: number | undefined;

  /** `ring` must not throw. */
  constructor(timer: Timer, ring: (nowMs: number) => void) {
    this.#timer = timer;
    this.#ring = ring;
  }

  get isSet(): boolean {
    return this.#dueAtMs !== undefined;
  }

  /** When it rings; undefined if it is not set. */
  get dueAtMs(): number | undefined {
    return this.#dueAtMs;
  }

  set(dueAtMs: number): void {
    this.#dueAtMs = dueAtMs;
    if (this.#sleep !== undefined && this.#sleepUntilMs <= dueAtMs) return;
    this.#lieDown(dueAtMs, this.#timer.now());
  }

  /** Leaves nothing behind. */
  clear(): void {
    this.#dueAtMs = undefined;
    this.#sleep?.abort(NOT_NEEDED);
    this.#sleep = undefined;
  }

  #lieDown(dueAtMs: number, nowMs: number): void {
    this.#sleep?.abort(NOT_NEEDED);
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#sleepUntilMs = dueAtMs;
    this.#timer.sleep(dueAtMs - nowMs, sleep.signal).then(
      () => this.#wakeUp(sleep),
      // Given up for an earlier one, or for none.
      () => undefined,
    );
  }

  #wakeUp(sleep: AbortController): void {
    if (sleep !== this.#sleep) return;
    this.#sleep = undefined;
    const dueAtMs = this.#dueAtMs;
    if (dueAtMs === undefined) return;
    const nowMs = this.#timer.now();
    if (nowMs < dueAtMs) {
      this.#lieDown(dueAtMs, nowMs);
      return;
    }
    this.#dueAtMs = undefined;
    this.#ring(nowMs);
  }
}
