import type { LimitAlgorithm, LimitDecision } from "../src/concurrency/algorithm.ts";
import type { Outcome } from "../src/concurrency/outcome.ts";

/** What becomes of an attempt. */
export interface Answer {
  readonly afterMs: number;
  readonly outcome: Outcome;
}

/** Asked when an attempt starts; `inFlight` counts it. */
export type Peer = (nowMs: number, inFlight: number) => Answer;

interface Attempt extends Answer {
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  readonly inFlightAtStart: number;
}

/** A decision and when it was taken. */
export interface Decided extends LimitDecision {
  readonly atMs: number;
}

/**
 * Somebody who always has `demand` attempts to make: starts as many as the algorithm allows, in
 * virtual time. At one instant everything that ends comes before anything that starts.
 */
export class ClosedLoop {
  peer: Peer;
  demand: number = Number.MAX_SAFE_INTEGER;
  nowMs = 0;
  readonly decisions: Decided[] = [];
  readonly starts: { readonly atMs: number; readonly inFlight: number }[] = [];
  readonly #algorithm: LimitAlgorithm;
  /** In the order in which they end. */
  readonly #inFlight: Attempt[] = [];

  constructor(algorithm: LimitAlgorithm, peer: Peer) {
    this.#algorithm = algorithm;
    this.peer = peer;
  }

  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Lets time pass until something holds, or the time is over; answers whether it came to hold. */
  runUntil(holds: () => boolean, atMostMs: number): boolean {
    const untilMs = this.nowMs + atMostMs;
    for (;;) {
      if (holds()) return true;
      const pauseMs = this.#start();
      if (holds()) return true;
      const [next] = this.#inFlight;
      const resumeAtMs = pauseMs === undefined ? untilMs : this.nowMs + pauseMs;
      const nextAtMs = Math.min(next?.endsAtMs ?? untilMs, resumeAtMs);
      if (nextAtMs >= untilMs) {
        this.nowMs = untilMs;
        return holds();
      }
      this.nowMs = nextAtMs;
      while ((this.#inFlight[0]?.endsAtMs ?? untilMs) <= this.nowMs) this.#end();
    }
  }

  run(ms: number): void {
    this.runUntil(() => false, ms);
  }

  /** Starts what may start. Answers how long the rest must wait for the pace, if for that. */
  #start(): number | undefined {
    while (this.inFlight < Math.min(this.#algorithm.limit, this.demand)) {
      const pauseMs = this.#algorithm.pauseMs(this.nowMs);
      if (pauseMs > 0) return pauseMs;
      const inFlightAtStart = this.inFlight + 1;
      this.#algorithm.onStart(this.nowMs, inFlightAtStart);
      this.starts.push({ atMs: this.nowMs, inFlight: inFlightAtStart });
      const answer = this.peer(this.nowMs, inFlightAtStart);
      this.#add({
        ...answer,
        startedAtMs: this.nowMs,
        endsAtMs: this.nowMs + answer.afterMs,
        inFlightAtStart,
      });
    }
    return undefined;
  }

  #add(attempt: Attempt): void {
    let [low, high] = [0, this.#inFlight.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#inFlight[middle];
      if (other !== undefined && other.endsAtMs <= attempt.endsAtMs) low = middle + 1;
      else high = middle;
    }
    this.#inFlight.splice(low, 0, attempt);
  }

  #end(): void {
    const ended = this.#inFlight.shift();
    if (ended === undefined) return;
    const { startedAtMs, outcome, inFlightAtStart } = ended;
    const { inFlight, nowMs: endedAtMs } = this;
    const decision = this.#algorithm.onEnd({
      startedAtMs,
      endedAtMs,
      outcome,
      inFlightAtStart,
      inFlight,
    });
    if (decision !== undefined) this.decisions.push({ ...decision, atMs: endedAtMs });
  }
}
