import type { Clock } from "@sluice/core";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import type { Worker, WorkTurns } from "./work-turns.ts";

/** What lets held SENDs go when their time has come. */
export interface Releasing {
  readonly wakeAtMs: number;
  /** In at most `max` steps; answers whether more is due now. */
  release(nowMs: number, max: number): boolean;
  /** Forgets what is held: the process is about to end, and clients send it again. */
  dropHeld?(nowMs: number): void;
}

/** Several as one. */
export function allReleasing(all: readonly Releasing[]): Releasing {
  return {
    get wakeAtMs(): number {
      return Math.min(...all.map(({ wakeAtMs }) => wakeAtMs));
    },
    release: (nowMs, max) => {
      let isMore = false;
      for (const one of all) if (one.release(nowMs, max)) isMore = true;
      return isMore;
    },
    dropHeld: (nowMs) => {
      for (const one of all) one.dropHeld?.(nowMs);
    },
  };
}

/** Steps between two looks at the clock; one takes some 5 µs. */
const STEPS_PER_LOOK = 32;

/** Releases held SENDs at their time, in turns with the connections. */
export class IngressTurns implements Worker, Sleeper {
  readonly isBrief = false;
  readonly #ingress: Releasing;
  readonly #clock: Clock;
  readonly #alarms: Alarms;
  readonly #turns: WorkTurns;
  // For the alarm.
  dueMs: number = Infinity;
  place: number | undefined;

  /** The clock must be the one of the alarms: an earlier one would find nothing due. */
  constructor(ingress: Releasing, clock: Clock, alarms: Alarms, turns: WorkTurns) {
    this.#ingress = ingress;
    this.#clock = clock;
    this.#alarms = alarms;
    this.#turns = turns;
  }

  /** The ingress needs to be woken earlier than before. */
  onWakeAt(): void {
    if (!this.#turns.isQueued(this)) this.#setAlarm(this.#clock.now());
  }

  ring(): void {
    this.dueMs = Infinity;
    this.#turns.add(this);
  }

  work(isOver: () => boolean): boolean {
    for (;;) {
      const nowMs = this.#clock.now();
      if (!this.#ingress.release(nowMs, STEPS_PER_LOOK)) {
        this.#setAlarm(nowMs);
        return false;
      }
      if (isOver()) return true;
    }
  }

  /** Only an earlier instant needs another alarm: one that rings too early is set anew. */
  #setAlarm(nowMs: number): void {
    const { wakeAtMs } = this.#ingress;
    if (wakeAtMs >= this.dueMs) return;
    this.#alarms.clear(this);
    this.dueMs = wakeAtMs;
    this.#alarms.set(this, nowMs);
  }
}
