import type { LimitAlgorithm, LimitDecision } from "../src/concurrency/algorithm.ts";
import type { Outcome } from "../src/concurrency/outcome.ts";

/** How a peer answers an attempt. */
export interface Answer {
  readonly afterMs: number;
  readonly outcome: Outcome;
}

/** Asked when an attempt starts; `inFlight` includes it. */
export type Peer = (nowMs: number, inFlight: number, weight: number) => Answer;

interface Attempt extends Answer {
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  readonly inFlightAtStart: number;
  readonly weight: number;
}

/** A decision and when it was taken. */
export interface Decided extends LimitDecision {
  readonly atMs: number;
}

/**
 * A client that always has `demand` to send: it starts as much as the algorithm allows, in virtual
 * time. At one instant everything that ends comes before anything that starts.
 */
export class ClosedLoop {
  peer: Peer;
  /** Weight in flight that the client wants. */
  demand: number = Number.MAX_SAFE_INTEGER;
  /** Weight of the next attempt. */
  weigh: () => number = () => 1;
  nowMs = 0;
  /** Weight in flight. */
  inFlight = 0;
  /** Weight that was served. */
  served = 0;
  readonly decisions: Decided[] = [];
  readonly starts: { readonly atMs: number; readonly inFlight: number }[] = [];
  readonly #algorithm: LimitAlgorithm;
  /** In the order in which they end. */
  readonly #attempts: Attempt[] = [];
  #nextWeight: number | undefined;

  constructor(algorithm: LimitAlgorithm, peer: Peer) {
    this.#algorithm = algorithm;
    this.peer = peer;
  }

  /** Lets time pass until something holds, or `atMostMs` are over; returns whether it came to hold. */
  runUntil(holds: () => boolean, atMostMs: number): boolean {
    const untilMs = this.nowMs + atMostMs;
    for (;;) {
      if (holds()) return true;
      const pauseMs = this.#start();
      if (holds()) return true;
      const [next] = this.#attempts;
      const resumeAtMs = pauseMs === undefined ? untilMs : this.nowMs + pauseMs;
      const nextAtMs = Math.min(next?.endsAtMs ?? untilMs, resumeAtMs);
      if (nextAtMs >= untilMs) {
        this.nowMs = untilMs;
        return holds();
      }
      this.nowMs = nextAtMs;
      while ((this.#attempts[0]?.endsAtMs ?? untilMs) <= this.nowMs) this.#end();
    }
  }

  run(ms: number): void {
    this.runUntil(() => false, ms);
  }

  /**
   * Starts what may start. Returns how long the pace blocks the next attempt, or how long silence has to
   * last for it; undefined if an attempt has to end.
   */
  #start(): number | undefined {
    const algorithm = this.#algorithm;
    algorithm.onTime?.(this.nowMs);
    while (this.inFlight < this.demand) {
      const { limit } = algorithm;
      this.#nextWeight ??= this.weigh();
      const weight = this.#nextWeight;
      if (this.inFlight > 0 && this.inFlight + weight > limit) {
        if (this.inFlight < limit) algorithm.onBlocked?.(this.nowMs);
        return algorithm.stallMs?.(this.nowMs);
      }
      const pauseMs = algorithm.pauseMs(this.nowMs);
      if (pauseMs > 0) {
        algorithm.onBlocked?.(this.nowMs);
        return pauseMs;
      }
      this.#nextWeight = undefined;
      this.#startOne(weight);
    }
    return undefined;
  }

  #startOne(weight: number): void {
    const startedAtMs = this.nowMs;
    this.inFlight += weight;
    const inFlightAtStart = this.inFlight;
    this.#algorithm.onStart(startedAtMs, inFlightAtStart, weight);
    this.starts.push({ atMs: startedAtMs, inFlight: inFlightAtStart });
    const answer = this.peer(startedAtMs, inFlightAtStart, weight);
    const endsAtMs = startedAtMs + answer.afterMs;
    this.#add({ ...answer, startedAtMs, endsAtMs, inFlightAtStart, weight });
  }

  #add(attempt: Attempt): void {
    let [low, high] = [0, this.#attempts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#attempts[middle];
      if (other !== undefined && other.endsAtMs <= attempt.endsAtMs) low = middle + 1;
      else high = middle;
    }
    this.#attempts.splice(low, 0, attempt);
  }

  #end(): void {
    const ended = this.#attempts.shift();
    if (ended === undefined) return;
    const { startedAtMs, outcome, inFlightAtStart, weight } = ended;
    this.inFlight -= weight;
    if (outcome === "ok") this.served += weight;
    const { inFlight, nowMs: endedAtMs } = this;
    const decision = this.#algorithm.onEnd({
      startedAtMs,
      endedAtMs,
      outcome,
      weight,
      inFlightAtStart,
      inFlight,
    });
    if (decision !== undefined) this.decisions.push({ ...decision, atMs: endedAtMs });
  }
}
