import { ConfigError } from "../../errors.ts";
import { systemClock } from "../../system.ts";
import type { Clock } from "../../time.ts";
import type { LimitAlgorithm, LimitDecision } from "../algorithm.ts";
import type { Outcome } from "../outcome.ts";
import { Permit } from "./permit.ts";
import type { PermitIssuer } from "./permit.ts";
import { Semaphore } from "./semaphore.ts";
import type { Waiter } from "./waiter-queue.ts";

/** A request for a permit that may wait. Errors thrown by its methods go to `onError`. */
export interface PermitWaiter extends Waiter {
  /** Called once, in the step in which the permit is given. */
  readonly onPermit: (permit: Permit) => void;
  /** Asked before the permit is given: true if it would come too late. Default: never. */
  readonly isLate?: (nowMs: number) => boolean;
  /** Called once instead of `onPermit` when it was late; the waiter has left the queue. */
  readonly onLate?: (nowMs: number) => void;
}

export interface ConcurrencyLimiterOptions {
  /**
   * Where the time comes from.
   *
   * @default the monotonic system clock
   */
  readonly clock?: Clock;
  /**
   * Most waiters in the queue.
   *
   * @default 0
   */
  readonly maxWaiting?: number;
  /**
   * A further condition, such as a rate. Asked when there is room, before a permit is given; what it
   * admits starts at once. While it returns false the queue stands still; call `handOver` when it would
   * return true. Default: none.
   */
  readonly admit?: (weight: number, nowMs: number) => boolean;
  /** Receives every decision of the algorithm, also those that leave the limit. Default: none. */
  readonly onDecision?: (decision: LimitDecision) => void;
  /**
   * Receives what a waiter or `onDecision` throws. Such an error belongs to neither the caller that
   * ends a permit nor the other waiters, so they go on. A permit whose `onPermit` threw is ended as
   * `ignored`. Default: an unhandled rejection, which ends a Node process unless it is handled.
   */
  readonly onError?: (error: unknown) => void;
}

/**
 * Gives as many permits as an algorithm finds right, by priority, then by arrival, and reports to the
 * algorithm how the attempts end. There is no timer: while the algorithm paces starts, wait for
 * `pauseMs` and call `handOver`.
 *
 * @example
 * const limiter = new ConcurrencyLimiter(new SluiceLimit());
 * const permit = limiter.tryAcquire();
 * if (permit === undefined) throw new Error("busy");
 * try {
 *   await send();
 *   permit.end("ok");
 * } finally {
 *   permit.end("failed"); // Does nothing after the first end.
 * }
 */
export class ConcurrencyLimiter<W extends PermitWaiter = PermitWaiter> {
  readonly #clock: Clock;
  readonly #algorithm: LimitAlgorithm;
  readonly #semaphore: Semaphore<W>;
  /** Whether `admit` was given: asking it may take what it admits. */
  readonly #hasCondition: boolean;
  readonly #onDecision: ((decision: LimitDecision) => void) | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #issuer: PermitIssuer = {
    onMeasure: (permit, outcome, nowMs) => this.#onMeasure(permit, outcome, nowMs),
    onEnd: (permit, outcome, nowMs) => this.#onEnd(permit, outcome, nowMs),
  };
  /** The instant of the call that is under way. */
  #nowMs = 0;

  constructor(algorithm: LimitAlgorithm, options: ConcurrencyLimiterOptions = {}) {
    requireAlgorithm(algorithm);
    const { clock = systemClock, maxWaiting = 0, admit, onDecision } = options;
    this.#clock = clock;
    this.#algorithm = algorithm;
    this.#hasCondition = admit !== undefined;
    this.#onDecision = onDecision;
    this.#onError = options.onError ?? throwLater;
    this.#semaphore = new Semaphore(algorithm.limit, {
      maxWaiting,
      admit: (weight) => this.#isPaceFree() && admit?.(weight, this.#nowMs) !== false,
      onNoRoom: () => {
        if (this.inFlight < this.#semaphore.limit) algorithm.onBlocked?.(this.#nowMs);
      },
      onPermit: (waiter) => this.#give(waiter),
      isLate: (waiter) => this.#isLate(waiter),
      onLate: (waiter) => {
        try {
          waiter.onLate?.(this.#nowMs);
        } catch (error) {
          this.#onError(error);
        }
      },
    });
  }

  get limit(): number {
    return this.#algorithm.limit;
  }

  /** Weight of the permits that are out. */
  get inFlight(): number {
    return this.#semaphore.inUse;
  }

  get waiting(): number {
    return this.#semaphore.waiting;
  }

  /** The next waiter. */
  get first(): W | undefined {
    return this.#semaphore.first;
  }

  /** The latest arrival of the lowest priority. */
  get last(): W | undefined {
    return this.#semaphore.last;
  }

  /** All waiters in order, as a copy. */
  waiters(): W[] {
    return this.#semaphore.waiters();
  }

  /** Whether `weight` permits are free; `admit` and the algorithm's pace may still refuse. */
  hasRoom(weight: number): boolean {
    return this.#semaphore.hasRoom(weight);
  }

  /**
   * Milliseconds until `tryAcquire(weight)` gives a permit; 0 if it does now. `undefined` if that is
   * not a matter of time: a permit has to come back, or `admit` decides. While the algorithm paces
   * starts it is the pace's pause, and a permit may have to come back as well.
   */
  pauseMs(weight: number = 1, nowMs: number = this.#clock.now()): number | undefined {
    this.#semaphore.limit = this.#algorithm.limit;
    const isFree = this.#semaphore.canAcquire(weight, 0);
    const paceMs = this.#algorithm.pauseMs(nowMs);
    if (paceMs > 0) return paceMs;
    return isFree && !this.#hasCondition ? 0 : undefined;
  }

  /**
   * Milliseconds after which `handOver` gives a permit although none has come back: a peer that is
   * silent gets a probe. `undefined` while permits are free, or if the algorithm has no such rule.
   */
  stallMs(nowMs: number = this.#clock.now()): number | undefined {
    return this.#algorithm.stallMs?.(nowMs);
  }

  /** A permit at once, or undefined if there is no room or a waiter goes first. */
  tryAcquire(weight: number = 1, priority: number = 0, nowMs?: number): Permit | undefined {
    this.#begin(nowMs);
    return this.#semaphore.tryAcquire(weight, priority) ? this.#start(weight) : undefined;
  }

  /** A permit whatever the limit, the queue and `admit` say: for callers that only observe. */
  forceAcquire(weight: number = 1, nowMs?: number): Permit {
    this.#begin(nowMs);
    this.#semaphore.forceAcquire(weight);
    return this.#start(weight);
  }

  /**
   * Gives the permit at once if `tryAcquire` would, and joins the queue otherwise. Returns the waiter
   * that is turned away because the queue is full: the newcomer, or the last of a lower priority.
   */
  wait(waiter: W, nowMs?: number): W | undefined {
    this.#begin(nowMs);
    return this.#semaphore.wait(waiter);
  }

  /** Leaves the queue. False if the permit was given already. */
  cancel(waiter: W, nowMs?: number): boolean {
    this.#begin(nowMs);
    return this.#semaphore.cancel(waiter);
  }

  /** Gives permits to waiters: after a pause, a raised limit, or when `admit` would return true. */
  handOver(nowMs?: number): void {
    this.#begin(nowMs);
    this.#semaphore.handOver();
  }

  #begin(nowMs: number | undefined): void {
    this.#nowMs = nowMs ?? this.#clock.now();
    this.#report(this.#algorithm.onTime?.(this.#nowMs));
    // Set anew, for the limit may have been changed from outside, as by `FixedLimit.setLimit`.
    this.#semaphore.limit = this.#algorithm.limit;
  }

  #isPaceFree(): boolean {
    if (this.#algorithm.pauseMs(this.#nowMs) === 0) return true;
    this.#algorithm.onBlocked?.(this.#nowMs);
    return false;
  }

  #isLate(waiter: W): boolean {
    try {
      return waiter.isLate?.(this.#nowMs) === true;
    } catch (error) {
      // A waiter that cannot tell must not block the queue.
      this.#onError(error);
      return true;
    }
  }

  #give(waiter: W): void {
    const permit = this.#start(waiter.weight);
    try {
      waiter.onPermit(permit);
    } catch (error) {
      permit.end("ignored", this.#nowMs);
      this.#onError(error);
    }
  }

  #start(weight: number): Permit {
    const inFlight = this.#semaphore.inUse;
    this.#algorithm.onStart(this.#nowMs, inFlight, weight);
    this.#semaphore.limit = this.#algorithm.limit;
    return new Permit(this.#issuer, weight, this.#nowMs, inFlight);
  }

  #onMeasure(permit: Permit, outcome: Outcome, nowMs: number | undefined): void {
    this.#begin(nowMs);
    const decision = this.#count(permit, outcome);
    // A raised limit may have room for waiters.
    this.#semaphore.handOver();
    this.#report(decision);
  }

  #onEnd(permit: Permit, outcome: Outcome, nowMs: number | undefined): void {
    this.#begin(nowMs);
    const decision = permit.isMeasured ? undefined : this.#count(permit, outcome);
    this.#semaphore.release(permit.weight);
    this.#report(decision);
  }

  #count(permit: Permit, outcome: Outcome): LimitDecision | undefined {
    const { weight, startedAtMs, inFlightAtStart } = permit;
    const decision = this.#algorithm.onEnd({
      startedAtMs,
      endedAtMs: this.#nowMs,
      outcome,
      weight,
      inFlightAtStart,
      inFlight: this.#semaphore.inUse - weight,
    });
    this.#semaphore.limit = this.#algorithm.limit;
    return decision;
  }

  #report(decision: LimitDecision | undefined): void {
    if (decision === undefined) return;
    try {
      this.#onDecision?.(decision);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** Refuses what plain JavaScript can leave out. */
function requireAlgorithm(given: unknown): void {
  if (given !== undefined && given !== null) return;
  const example = "new ConcurrencyLimiter(new SluiceLimit())";
  throw new ConfigError(`a concurrency limiter has no algorithm; use for instance ${example}`);
}

/** Fails outside the call that ended the permit: as an unhandled rejection. */
async function throwLater(thrown: unknown): Promise<never> {
  await Promise.resolve();
  throw thrown;
}
