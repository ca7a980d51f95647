import type { Timer } from "@sluice/core";

/** The reason for aborting a sleep. Shared, because creating an error costs more than the rest of `set`. */
const NOT_NEEDED = new Error("the sleep is not needed any more");

/**
 * Calls back once at an instant, unless it is set anew or cleared before. Setting a later instant is
 * free: the running sleep goes on, and a new one starts when it wakes too early.
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

  /** Undefined if the alarm is not set. */
  get dueAtMs(): number | undefined {
    return this.#dueAtMs;
  }

  set(dueAtMs: number): void {
    this.#dueAtMs = dueAtMs;
    if (this.#sleep !== undefined && this.#sleepUntilMs <= dueAtMs) return;
    this.#startSleep(dueAtMs, this.#timer.now());
  }

  /** Leaves no sleep running. */
  clear(): void {
    this.#dueAtMs = undefined;
    this.#sleep?.abort(NOT_NEEDED);
    this.#sleep = undefined;
  }

  #startSleep(dueAtMs: number, nowMs: number): void {
    this.#sleep?.abort(NOT_NEEDED);
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#sleepUntilMs = dueAtMs;
    this.#timer.sleep(dueAtMs - nowMs, sleep.signal).then(
      () => this.#onAwake(sleep),
      // Aborted by `clear`, or for an earlier instant.
      () => undefined,
    );
  }

  #onAwake(sleep: AbortController): void {
    if (sleep !== this.#sleep) return;
    this.#sleep = undefined;
    const dueAtMs = this.#dueAtMs;
    if (dueAtMs === undefined) return;
    const nowMs = this.#timer.now();
    if (nowMs < dueAtMs) {
      this.#startSleep(dueAtMs, nowMs);
      return;
    }
    this.#dueAtMs = undefined;
    this.#ring(nowMs);
  }
}
