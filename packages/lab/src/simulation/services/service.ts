import { ConfigError } from "@sluice/core";
import { TimeWeighted } from "../engine/time-weighted.ts";

export type Answer = (answer: "ok" | "busy") => void;

/** A simulated service. Each implementation decides when it answers a request, and how. */
export interface Service {
  readonly seen: Arrivals;
  /** A request arrives. `answer` is called at most once: never if the request is lost. */
  arrive(answer: Answer): void;
}

const RATE_WINDOW_MS = 1000;
/** Most arrivals within the window; each takes eight bytes until it leaves it. */
const RATE_MAX = 3_000_000;

/** The load that a service sees: requests in it, and arrivals within the last second. */
export class Arrivals {
  readonly inFlight: TimeWeighted = new TimeWeighted();
  readonly rate: TimeWeighted = new TimeWeighted();
  #level = 0;
  #times: number[] = [];
  #oldest = 0;

  /** Counts an arrival. Both numbers include it. */
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

  /**
   * Arrivals within the last second. Recorded at departures too, because the distribution is
   * weighted by time.
   */
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
