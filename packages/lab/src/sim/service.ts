import { TimeWeighted } from "./time-weighted.ts";

export type Answer = (answer: "ok" | "busy") => void;

/** A simulated service. Requests come one at a time; what it does with them is its own affair. */
export interface Service {
  readonly seen: Arrivals;
  /** A request arrives. `answer` is called once at most: a request may also be lost. */
  arrive(answer: Answer): void;
}

const RATE_WINDOW_MS = 1000;

/** What a service sees of its clients: how many are in it, and how many came in the last second. */
export class Arrivals {
  readonly inFlight: TimeWeighted = new TimeWeighted();
  readonly rate: TimeWeighted = new TimeWeighted();
  #level = 0;
  #times: number[] = [];
  #oldest = 0;

  /** Counts one in. Both numbers include it. */
  enter(nowMs: number): { level: number; rate: number } {
    this.inFlight.add(this.#level, nowMs);
    this.#level++;
    const times = this.#times;
    while (
      this.#oldest < times.length &&
      (times[this.#oldest] as number) <= nowMs - RATE_WINDOW_MS
    ) {
      this.#oldest++;
    }
    if (this.#oldest > 1024 && this.#oldest * 2 > times.length) {
      this.#times = times.slice(this.#oldest);
      this.#oldest = 0;
    }
    this.#times.push(nowMs);
    const rate = this.#times.length - this.#oldest;
    this.rate.add(rate, nowMs);
    return { level: this.#level, rate };
  }

  leave(nowMs: number): void {
    this.inFlight.add(this.#level, nowMs);
    this.#level--;
  }
}
