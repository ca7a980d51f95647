import { requireOutcome } from "../outcome.ts";
import type { Outcome } from "../outcome.ts";

/** Where permits come from, and where they go when they end. */
export interface PermitIssuer {
  /** The outcome of the attempt is known; its permit is still out. */
  onMeasure(permit: Permit, outcome: Outcome, nowMs: number | undefined): void;
  /** The permit comes back. Its attempt counts now unless it was measured before. */
  onEnd(permit: Permit, outcome: Outcome, nowMs: number | undefined): void;
}

/**
 * The right to have one attempt in flight. `using` ends it as `ignored` unless it was ended before.
 *
 * @example
 * const permit = limiter.tryAcquire();
 * if (permit === undefined) return refuse();
 * try {
 *   await send();
 *   permit.end("ok");
 * } finally {
 *   permit.end("failed"); // Does nothing after the first end.
 * }
 */
export class Permit {
  readonly #issuer: PermitIssuer;
  readonly weight: number = 0;
  readonly startedAtMs: number = 0;
  /** In flight when it was given, its own weight included. */
  readonly inFlightAtStart: number = 0;
  #isMeasured = false;
  #hasEnded = false;

  constructor(issuer: PermitIssuer, weight: number, startedAtMs: number, inFlightAtStart: number) {
    this.#issuer = issuer;
    this.weight = weight;
    this.startedAtMs = startedAtMs;
    this.inFlightAtStart = inFlightAtStart;
  }

  /** Whether the attempt has been counted, so that only the permit is still out. */
  get isMeasured(): boolean {
    return this.#isMeasured;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Counts the attempt now and keeps its permit: for an answer whose body is still coming, or a call
   * whose caller no longer waits for it. Only the first call counts, and none after the end.
   */
  measure(outcome: Outcome, nowMs?: number): boolean {
    if (this.#isMeasured || this.#hasEnded) return false;
    requireOutcome(outcome);
    this.#isMeasured = true;
    this.#issuer.onMeasure(this, outcome, nowMs);
    return true;
  }

  /**
   * Ends the attempt. Only the first call counts, so that a `finally` may end what is left open;
   * after `measure` the outcome says nothing more.
   */
  end(outcome: Outcome, nowMs?: number): boolean {
    if (this.#hasEnded) return false;
    requireOutcome(outcome);
    this.#hasEnded = true;
    this.#issuer.onEnd(this, outcome, nowMs);
    return true;
  }

  /** Ends the permit as `ignored` unless it was ended before. */
  [Symbol.dispose](): void {
    this.end("ignored");
  }
}
