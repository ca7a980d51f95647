import { ConcurrencyLimiter, Fifo, FixedLimit } from "@sluice/core";
import type { LimitAlgorithm, LimitDecision, Permit, Random } from "@sluice/core";
import type { EventLoop, Scheduled } from "../sim/event-loop.ts";
import type { Service } from "../sim/service.ts";
import { TimeWeighted, TimeWeightedReal } from "../sim/time-weighted.ts";

/** How a client goes about a request that was not served. */
export interface RetryOptions {
  /** `whole-request`: the permit is held through all back-offs, as the time that is measured. */
  readonly layering: "per-attempt" | "whole-request";
  readonly timeoutMs: number;
  /** Before the second attempt, the third and so on; the last repeats. Never empty. */
  readonly backoffMs: readonly number[];
  /** `full`: drawn evenly from nothing up to the step. */
  readonly backoffJitter: "none" | "full";
}

/** What a client saw at the end of an attempt. */
export type AttemptEnd = "ok" | "busy" | "failed";

export interface ClientObserver {
  onAttemptEnd(end: AttemptEnd, rttMs: number): void;
  /** Perhaps it can start more: `start` is to be called before time goes on. */
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

/** A client that sends whatever it has as fast as its limiter lets it. */
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
  /** Back from their back-off. They go before new ones. */
  readonly #returned = new Fifo<Request>();
  /** New requests that nobody has started yet. */
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

  /** Has `count` more requests to send. */
  offer(count: number): void {
    this.#fresh += count;
    this.#observer.onChange();
  }

  /** Starts what may start now. */
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

  /** A paced algorithm says when it will let the next one start; the loop must have an event then. */
  #wakeAfterPause(): void {
    const pauseMs = this.limiter.pauseMs();
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
