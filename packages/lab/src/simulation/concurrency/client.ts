import { ConcurrencyLimiter, FixedLimit } from "@sluice/core";
import type { LimitAlgorithm, LimitDecision, Permit, Random } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";
import type { EventLoop, Scheduled } from "../engine/event-loop.ts";
import type { Service } from "../services/service.ts";
import { TimeWeighted, TimeWeightedReal } from "../engine/time-weighted.ts";

/** When an attempt fails, and when it is repeated. */
export interface RetryOptions {
  /**
   * `whole-request`: the permit is held, and the round trip measured, through all retries and back-
   * offs.
   */
  readonly layering: "per-attempt" | "whole-request";
  readonly timeoutMs: number;
  /** Wait before the second attempt, the third and so on; the last one repeats. Never empty. */
  readonly backoffMs: readonly number[];
  /** `full`: each wait is drawn evenly between 0 and the step. */
  readonly backoffJitter: "none" | "full";
}

/** How an attempt ended for its client. */
export type AttemptEnd = "ok" | "busy" | "failed";

export interface ClientObserver {
  onAttemptEnd(end: AttemptEnd, rttMs: number): void;
  /** The client may be able to start more; call `start` before time advances. */
  onChange(): void;
}

/** What one client measured, weighted by time. */
export class ClientStats {
  readonly inFlight: TimeWeighted = new TimeWeighted();
  readonly limit: TimeWeighted = new TimeWeighted();
  readonly observedRttMs: TimeWeightedReal = new TimeWeightedReal();
  readonly averagedRttMs: TimeWeightedReal = new TimeWeightedReal();
  successes = 0;
  attempts = 0;
}

interface Request {
  attempts: number;
}

/** A client that sends its requests as fast as its limiter admits them. */
export class Client {
  readonly stats: ClientStats = new ClientStats();
  readonly limiter: ConcurrencyLimiter;
  readonly #loop: EventLoop;
  readonly #service: Service;
  readonly #random: Random;
  readonly #retry: RetryOptions;
  readonly #observer: ClientObserver;
  /** A fixed limit takes no decisions that the statistics could be taken from. */
  readonly #isFixed: boolean;
  /** Requests whose back-off is over. They go before fresh ones. */
  readonly #returned = new Fifo<Request>();
  /** Requests without an attempt yet. */
  #fresh = 0;
  #wakeAtMs = 0;

  constructor(
    world: { loop: EventLoop; service: Service; random: Random; observer: ClientObserver },
    algorithm: LimitAlgorithm,
    retry: RetryOptions,
  ) {
    this.#loop = world.loop;
    this.#service = world.service;
    this.#random = world.random;
    this.#observer = world.observer;
    this.#retry = retry;
    this.#isFixed = algorithm instanceof FixedLimit;
    const onDecision = (decision: LimitDecision): void => this.#onDecision(decision);
    this.limiter = new ConcurrencyLimiter(algorithm, { clock: world.loop, onDecision });
  }

  /** Adds `count` requests. */
  offer(count: number): void {
    this.#fresh += count;
    this.#observer.onChange();
  }

  /** Starts every request that the limiter admits now. */
  start(): void {
    while (this.#returned.length > 0 || this.#fresh > 0) {
      const inFlight = this.limiter.inFlight;
      const permit = this.limiter.tryAcquire();
      if (permit === undefined) break;
      this.stats.inFlight.add(inFlight, this.#loop.now());
      this.#attempt(this.#next(), permit);
    }
    if (this.#returned.length > 0 || this.#fresh > 0) this.#wakeAfterPause();
  }

  #next(): Request {
    const returned = this.#returned.shift();
    if (returned !== undefined) return returned;
    this.#fresh--;
    return { attempts: 0 };
  }

  /**
   * A paced algorithm tells when the next attempt may start, and one that watches for silence when it
   * would probe; the loop needs an event at that time.
   */
  #wakeAfterPause(): void {
    const pauseMs = this.limiter.pauseMs() ?? this.limiter.stallMs() ?? 0;
    const wakeAtMs = this.#loop.now() + pauseMs;
    if (pauseMs === 0 || (this.#wakeAtMs > this.#loop.now() && this.#wakeAtMs <= wakeAtMs)) return;
    this.#wakeAtMs = wakeAtMs;
    this.#loop.at(wakeAtMs, () => this.#observer.onChange());
  }

  #attempt(request: Request, permit: Permit): void {
    const startedAtMs = this.#loop.now();
    let timeout: Scheduled | undefined;
    let isOver = false;
    const end = (how: AttemptEnd): void => {
      if (isOver) return;
      isOver = true;
      if (timeout !== undefined) this.#loop.cancel(timeout);
      this.#onAttemptEnd(request, permit, how, this.#loop.now() - startedAtMs);
    };
    request.attempts++;
    this.stats.attempts++;
    this.#service.arrive(end);
    timeout = this.#loop.after(this.#retry.timeoutMs, () => end("failed"));
  }

  #onAttemptEnd(request: Request, permit: Permit, how: AttemptEnd, rttMs: number): void {
    const { layering } = this.#retry;
    this.#observer.onAttemptEnd(how, rttMs);
    if (how === "ok") this.stats.successes++;
    if (how !== "ok" && layering === "whole-request") {
      this.#loop.after(this.#backoffMs(request), () => this.#attempt(request, permit));
      return;
    }
    const nowMs = this.#loop.now();
    this.stats.inFlight.add(this.limiter.inFlight, nowMs);
    if (this.#isFixed) this.stats.limit.add(this.limiter.limit, nowMs);
    if (how === "ok") this.stats.observedRttMs.add(nowMs - permit.startedAtMs, nowMs);
    permit.end(how);
    this.#observer.onChange();
    if (how === "ok") return;
    this.#loop.after(this.#backoffMs(request), () => {
      this.#returned.push(request);
      this.#observer.onChange();
    });
  }

  #backoffMs({ attempts }: Request): number {
    const { backoffMs, backoffJitter } = this.#retry;
    const stepMs = backoffMs[Math.min(attempts, backoffMs.length) - 1] ?? 0;
    return backoffJitter === "full" ? stepMs * this.#random.next() : stepMs;
  }

  #onDecision({ limitBefore, rttMs }: LimitDecision): void {
    const nowMs = this.#loop.now();
    this.stats.limit.add(limitBefore, nowMs);
    if (rttMs !== undefined) this.stats.averagedRttMs.add(rttMs, nowMs);
  }
}
