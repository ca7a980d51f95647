import { ConfigError } from "@sluice/core";
import { TimeWeighted } from "../engine/time-weighted.ts";

export type Answer = (answer: "ok" | "busy") => void;

/** A simulated service. Requests come one at a time; what it does with them is its own affair. */
export interface Service {
  readonly seen: Arrivals;
  /** A request arrives. `answer` is called once at most: a request may also be lost. */
  arrive(answer: Answer): void;
}

const RATE_WINDOW_MS = 1000;
/** Arrivals within that time, all of which are remembered. */
const RATE_MAX = 3_000_000;

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
    this.#times.push(nowMs);
    return { level: this.#level, rate: this.#countRate(nowMs) };
  }

  leave(nowMs: number): void {
    this.#countRate(nowMs);
    this.inFlight.add(this.#level, nowMs);
    this.#level--;
  }

  /** Arrivals in the last second, up to now; also noted when one leaves. */
  #countRate(nowMs: number): number {
    const times = this.#times;
    while (this.#oldest < times.length && (times[this.#oldest] as number) <= nowMs - RATE_WINDOW_MS)
      this.#oldest++;
    if (this.#oldest > 1024 && this.#oldest * 2 > times.length) {
      this.#times = times.slice(this.#oldest);
      this.#oldest = 0;
    }
    const rate = this.#times.length - this.#oldest;
    if (rate > RATE_MAX) {
      throw new ConfigError(
        `too much happens: more than ${RATE_MAX} attempts reach the service within a second; gave up ${nowMs / 1000} s into the run; make delays, timeouts or back-offs longer`,
      );
    }
    this.rate.add(rate, nowMs);
    return rate;
  }
}
