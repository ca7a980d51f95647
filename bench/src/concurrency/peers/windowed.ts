import type { LimitAlgorithm, LimitDecision, Outcome, EndedAttempt } from "@sluice/core";
import { isDrop } from "./decision.ts";

/**
 * The window of Netflix concurrency-limits: once a second an algorithm is told the mean round trip,
 * the most in flight and whether anything was dropped, as one sample. Round trips of drops are in
 * the mean. Windows of fewer than 10 and round trips below 0.1 ms are left out.
 */
export class WindowedLimit implements LimitAlgorithm {
  readonly #algorithm: LimitAlgorithm;
  #nextUpdateAtMs = 0;
  #count = 0;
  #sumMs = 0;
  #inFlightMax = 0;
  #outcome: Outcome = "ok";

  constructor(algorithm: LimitAlgorithm) {
    this.#algorithm = algorithm;
  }

  get limit(): number {
    return this.#algorithm.limit;
  }

  pauseMs(nowMs: number): number {
    return this.#algorithm.pauseMs(nowMs);
  }

  onStart(nowMs: number, inFlight: number, weight: number): void {
    this.#algorithm.onStart(nowMs, inFlight, weight);
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    const { startedAtMs, endedAtMs, outcome, inFlightAtStart } = sample;
    const rttMs = endedAtMs - startedAtMs;
    if (outcome === "ignored" || rttMs < RTT_MIN_MS) return undefined;
    this.#count++;
    this.#sumMs += rttMs;
    this.#inFlightMax = Math.max(this.#inFlightMax, inFlightAtStart);
    if (isDrop(outcome)) this.#outcome = outcome;
    if (endedAtMs <= this.#nextUpdateAtMs) return undefined;
    const whole: EndedAttempt = {
      ...sample,
      startedAtMs: endedAtMs - this.#sumMs / this.#count,
      outcome: this.#outcome,
      inFlightAtStart: this.#inFlightMax,
    };
    const isThin = this.#count < COUNT_MIN;
    this.#nextUpdateAtMs = endedAtMs + WINDOW_MS;
    this.#count = 0;
    this.#sumMs = 0;
    this.#inFlightMax = 0;
    this.#outcome = "ok";
    return isThin ? undefined : this.#algorithm.onEnd(whole);
  }
}

const RTT_MIN_MS = 0.1;
const COUNT_MIN = 10;
// Twice the lowest round trip, but at least and at most this: so it is always this.
const WINDOW_MS = 1000;
