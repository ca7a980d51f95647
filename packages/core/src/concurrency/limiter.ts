import type { Clock } from "../time.ts";
import type { LimitAlgorithm, LimitDecision } from "./algorithm.ts";
import type { Waiter } from "./line.ts";
import type { Outcome } from "./outcome.ts";
import { Permit } from "./permit.ts";
import type { PermitIssuer } from "./permit.ts";
import { Semaphore } from "./semaphore.ts";

/** Somebody who waits for a permit. */
export interface PermitWaiter extends Waiter {
  /** Called once, in the step in which the permit became theirs. */
  readonly onPermit: (permit: Permit) => void;
  /** Asked before the permit is given: true if it would come too late. Never unless given. */
  readonly isLate?: (nowMs: number) => boolean;
  /** Called instead of `onPermit`, once, when it was late; it is out of the line by then. */
  readonly onLate?: (nowMs: number) => void;
}

export interface ConcurrencyLimiterOptions {
  /** Most that may wait; nobody unless given. */
  readonly maxWaiting?: number;
  /**
   * Another limit to pass, asked when there is room and before a permit is given; what it admits
   * starts at once. While it is closed the line stands still, and whoever opens it calls
   * `handOver`.
   */
  readonly door?: (weight: number, nowMs: number) => boolean;
  /** Told of every decision, also of those that leave the limit. */
  readonly onDecision?: (decision: LimitDecision) => void;
}

/**
 * Gives out as many permits as an algorithm finds right, first come, first served, and tells it
 * what became of them. Nothing ticks: while the algorithm paces the starts, whoever waits asks
 * `pauseMs` and calls `handOver` when it has passed.
 */
export class ConcurrencyLimiter<W extends PermitWaiter = PermitWaiter> implements PermitIssuer {
  readonly #clock: Clock;
  readonly #algorithm: LimitAlgorithm;
  readonly #semaphore: Semaphore<W>;
  readonly #onDecision: ((decision: LimitDecision) => void) | undefined;
  /** The one instant of the call that is under way. */
  #nowMs = 0;

  constructor(clock: Clock, algorithm: LimitAlgorithm, options: ConcurrencyLimiterOptions = {}) {
    const { maxWaiting = 0, door, onDecision } = options;
    this.#clock = clock;
    this.#algorithm = algorithm;
    this.#onDecision = onDecision;
    this.#semaphore = new Semaphore(algorithm.limit, {
      maxWaiting,
      door: (weight) =>
        algorithm.pauseMs(this.#nowMs) === 0 && door?.(weight, this.#nowMs) !== false,
      onPermit: (waiter) => waiter.onPermit(this.#start(waiter.weight)),
      isLate: (waiter) => waiter.isLate?.(this.#nowMs) === true,
      onLate: (waiter) => waiter.onLate?.(this.#nowMs),
    });
  }

  get limit(): number {
    return this.#semaphore.limit;
  }

  get inFlight(): number {
    return this.#semaphore.inUse;
  }

  get waiting(): number {
    return this.#semaphore.waiting;
  }

  /** Who is next. */
  get first(): W | undefined {
    return this.#semaphore.first;
  }

  /** Who came last among those of the lowest priority. */
  get last(): W | undefined {
    return this.#semaphore.last;
  }

  /** Who waits now, the next first. */
  waiters(): W[] {
    return this.#semaphore.waiters();
  }

  /** Whether `weight` permits are free; the door and the algorithm's pace may still say no. */
  hasRoom(weight: number): boolean {
    return this.#semaphore.hasRoom(weight);
  }

  /** How long the algorithm lets nothing start, whatever is free. */
  pauseMs(nowMs: number = this.#clock.now()): number {
    return this.#algorithm.pauseMs(nowMs);
  }

  /** A permit at once, or none if there is no room or somebody is before this one. */
  tryAcquire(weight: number = 1, priority: number = 0, nowMs?: number): Permit | undefined {
    this.#nowMs = nowMs ?? this.#clock.now();
    return this.#semaphore.tryAcquire(weight, priority) ? this.#start(weight) : undefined;
  }

  /** A permit whatever the limit, the line and the door say: for those who only want to watch. */
  forceAcquire(weight: number = 1, nowMs: number = this.#clock.now()): Permit {
    this.#nowMs = nowMs;
    this.#semaphore.forceAcquire(weight);
    return this.#start(weight);
  }

  /** Joins the line. Answers who gets no place because it is full, if anybody. */
  wait(waiter: W): W | undefined {
    return this.#semaphore.wait(waiter);
  }

  /** Leaves the line. False if the permit was handed over already. */
  cancel(waiter: W, nowMs: number = this.#clock.now()): boolean {
    this.#nowMs = nowMs;
    return this.#semaphore.cancel(waiter);
  }

  /** Lets in whoever can be let in now: after a pause, or when the door has opened. */
  handOver(nowMs: number = this.#clock.now()): void {
    this.#nowMs = nowMs;
    this.#semaphore.handOver();
  }

  /** An attempt is counted while its permit is out: see `Permit.measure`. */
  onMeasure(permit: Permit, outcome: Outcome, nowMs: number = this.#clock.now()): void {
    this.#nowMs = nowMs;
    const decision = this.#count(permit, outcome);
    // A raised limit may have room for whoever waits.
    this.#semaphore.handOver();
    if (decision !== undefined) this.#onDecision?.(decision);
  }

  /** A permit ends: see `Permit.end`. */
  onEnd(permit: Permit, outcome: Outcome, nowMs: number = this.#clock.now()): void {
    this.#nowMs = nowMs;
    const decision = permit.isMeasured ? undefined : this.#count(permit, outcome);
    this.#semaphore.release(permit.weight);
    if (decision !== undefined) this.#onDecision?.(decision);
  }

  #count(permit: Permit, outcome: Outcome): LimitDecision | undefined {
    const decision = this.#algorithm.onEnd({
      startedAtMs: permit.startedAtMs,
      endedAtMs: this.#nowMs,
      outcome,
      inFlightAtStart: permit.inFlightAtStart,
      inFlight: this.#semaphore.inUse - permit.weight,
    });
    this.#semaphore.limit = this.#algorithm.limit;
    return decision;
  }

  #start(weight: number): Permit {
    const inFlight = this.#semaphore.inUse;
    this.#algorithm.onStart(this.#nowMs, inFlight);
    this.#semaphore.limit = this.#algorithm.limit;
    return new Permit(this, weight, this.#nowMs, inFlight);
  }
}
