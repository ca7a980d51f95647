import type { Timer } from "@sluice/core";

/** Longest sleep until a delayed entry is due, in milliseconds: timers count 31 bits. */
const SLEEP_MS_MAX = 3_600_000;

interface Alarm {
  readonly dueMs: number;
  readonly cancel: AbortController;
}

/** Wakes a subscription when its next delayed entry is due. */
export class DueAlarm {
  readonly #timer: Timer;
  readonly #wallNow: () => number;
  readonly #onDue: () => void;
  #alarm: Alarm | undefined;

  /** `onDue` may be called too early; the caller then sets the alarm anew. */
  constructor(timer: Timer, wallNow: () => number, onDue: () => void) {
    this.#timer = timer;
    this.#wallNow = wallNow;
    this.#onDue = onDue;
  }

  /** In wall time; undefined stops it. */
  set(dueMs: number | undefined): void {
    if (this.#alarm?.dueMs === dueMs) return;
    this.#alarm?.cancel.abort();
    this.#alarm = dueMs === undefined ? undefined : { dueMs, cancel: new AbortController() };
    if (this.#alarm !== undefined) void this.#wait(this.#alarm);
  }

  async #wait({ dueMs, cancel }: Alarm): Promise<void> {
    const sleepMs = Math.min(SLEEP_MS_MAX, Math.max(0, dueMs - this.#wallNow()));
    try {
      await this.#timer.sleep(sleepMs, cancel.signal);
    } catch {
      return;
    }
    this.#alarm = undefined;
    this.#onDue();
  }
}
