import type { BusyThrottle, Clock, Outcome, Permit, Timer } from "@sluice/core";
import type { Alarms } from "@sluice/core/internal";
import { pauseOf } from "../../hints/hint.ts";
import type { Hint } from "../../hints/hint.ts";
import { IGNORED, verdictOfError, verdictOfValue } from "../../outcome/default-verdict.ts";
import type { Classify, Settled } from "../../outcome/classify.ts";
import { requireVerdict } from "../../outcome/verdict.ts";
import type { Verdict } from "../../outcome/verdict.ts";
import type { GateEvents } from "../event/gate-events.ts";
import { GatePermit } from "../permit/gate-permit.ts";
import type { GatePermitIssuer } from "../permit/gate-permit.ts";
import type { AdmissionQueue } from "../queue/admission-queue.ts";
import type { GateAdmission } from "../queue/gate-admission.ts";
import { Charge } from "../rate/charge.ts";
import { requireCost } from "../rate/cost.ts";
import type { Cost } from "../rate/cost.ts";
import type { Rates } from "../rate/rates.ts";
import type { Call } from "../options/call-options.ts";
import { WatchedCall } from "./watched-call.ts";
import type { Order, RunHooks, WatchedCallHost } from "./watched-call.ts";
import { signalFor } from "./work.ts";

export interface AttemptsOptions {
  readonly name: string;
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly queue: AdmissionQueue;
  readonly admission: GateAdmission;
  readonly rates: Rates | undefined;
  readonly busy: BusyThrottle | undefined;
  readonly classify: Classify | undefined;
  readonly events: GateEvents | undefined;
}

/** Makes attempts: starts their functions, judges how they come out, and gives their permits back. */
export class Attempts implements WatchedCallHost, GatePermitIssuer {
  readonly name: string;
  readonly deadlines: Alarms;
  readonly #options: AttemptsOptions;
  readonly #timer: Timer;
  readonly #queue: AdmissionQueue;
  readonly #events: GateEvents | undefined;
  #abandoned = 0;
  /** Resolve the promises of `drained`. */
  #onDrained: (() => void)[] = [];

  constructor(options: AttemptsOptions) {
    this.name = options.name;
    this.deadlines = options.queue.deadlines;
    this.#options = options;
    this.#timer = options.timer;
    this.#queue = options.queue;
    this.#events = options.events;
  }

  /** Attempts whose callers have left, by deadline, timeout or signal. */
  get abandoned(): number {
    return this.#abandoned;
  }

  now(): number {
    return this.#timer.now();
  }

  /** Makes one attempt when the gate admits it. */
  run<T>(order: Order<T>, nowMs: number): Promise<T> {
    const { admission } = this.#options;
    const { call } = order;
    const isTooLate = admission.isTooLate(call, nowMs);
    const permit = isTooLate ? undefined : admission.enter(call, nowMs);
    if (permit !== undefined && !isWatched(call)) return this.#begin(permit, order);
    return new Promise((resolve, reject) => {
      const watched = new WatchedCall(this, order, { resolve, reject });
      if (permit !== undefined) watched.onPermit(permit);
      else if (isTooLate) watched.onRefused(admission.refuse(call, nowMs, "deadline"));
      else admission.waitFor(call, nowMs, watched);
    });
  }

  /** A permit for callers that start and end the attempt themselves. */
  gatePermit(permit: Permit, call: Call): GatePermit {
    return new GatePermit(this, permit, this.chargeOf(permit, call));
  }

  permitOf(permit: Permit, charge: Charge | undefined, onEnd?: () => void): GatePermit {
    return new GatePermit(this, permit, charge, onEnd);
  }

  chargeOf(permit: Permit, call: Call): Charge | undefined {
    const { rates, admission } = this.#options;
    return rates === undefined || !admission.isCharged(permit)
      ? undefined
      : new Charge(rates, call.costs);
  }

  settle(charge: Charge | undefined, cost: Cost): void {
    requireCost(cost, this.#options.rates?.names ?? []);
    const nowMs = this.#timer.now();
    if (charge?.settle(cost, nowMs) === true) this.#queue.handOver(nowMs);
  }

  settleBy(result: unknown, charge: Charge | undefined, { costOf }: Call): void {
    if (costOf === undefined) return;
    const settle = (cost: Cost | undefined): void => {
      if (cost !== undefined) this.settle(charge, cost);
    };
    try {
      const cost = costOf(result);
      if (isPromise(cost)) cost.then(settle).then(undefined, keepEstimate);
      else settle(cost);
    } catch {
      keepEstimate();
    }
  }

  judge(settled: Settled): Verdict {
    const { classify, wallClock } = this.#options;
    const verdict = classify?.(settled);
    if (verdict !== undefined) return requireVerdict("classify", verdict);
    return "value" in settled
      ? verdictOfValue(settled.value, wallClock)
      : verdictOfError(settled.error, wallClock);
  }

  measure(permit: Permit, verdict: Verdict): void {
    const nowMs = this.#timer.now();
    this.#note(permit, verdict, nowMs);
    this.#events?.measured(permit, verdict, nowMs);
    permit.measure(this.#loadOf(verdict), nowMs);
    this.#queue.onPermitBack(nowMs);
  }

  end(permit: Permit, verdict: Verdict): void {
    const nowMs = this.#timer.now();
    if (permit.isMeasured) this.#events?.returned(permit, nowMs);
    else {
      this.#note(permit, verdict, nowMs);
      this.#events?.ended(permit, verdict, nowMs);
    }
    permit.end(this.#loadOf(verdict), nowMs);
    this.#queue.onPermitBack(nowMs);
    if (this.#queue.inFlight === 0) for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Resolves once all permits are back. */
  drained(): Promise<void> {
    if (this.#queue.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained.push(resolve);
    });
  }

  loosen(permit: GatePermit, afterMs: number): void {
    const nowMs = this.#timer.now();
    permit.dueMs = nowMs + afterMs;
    this.#queue.loosen(permit, nowMs);
  }

  tighten(permit: GatePermit): void {
    this.#queue.tighten(permit);
  }

  onAbandoned(change: 1 | -1): void {
    this.#abandoned += change;
  }

  /**
   * Pauses all calls, or those that cost something at `rate`. Answers whether the pause is on because of
   * this, and not because of an earlier one.
   */
  pause(pauseMs: number, nowMs: number, rate?: string): boolean {
    if (!this.#queue.pause(pauseMs, nowMs, rate)) return false;
    const pausedMs = rate === undefined ? this.#queue.pausedForMs(nowMs) : pauseMs;
    this.#events?.paused(pausedMs, nowMs, rate);
    return true;
  }

  /** The short way, for most calls: there is nothing to watch, so nothing is made for it. */
  #begin<T>(permit: Permit, order: Order<T>): Promise<T> {
    const { work, hooks } = order;
    let result: T | PromiseLike<T>;
    try {
      result = work(signalFor(work));
    } catch (error) {
      return Promise.reject(this.#onError(permit, error, hooks));
    }
    return Promise.resolve(result).then(
      (value) => {
        this.#onValue(permit, value, order);
        return value;
      },
      (error: unknown) => {
        throw this.#onError(permit, error, hooks);
      },
    );
  }

  #onValue<T>(permit: Permit, value: T, { call, hooks }: Order<T>): void {
    let verdict = IGNORED;
    const needsCharge = hooks.keep !== undefined || call.costOf !== undefined;
    const charge = needsCharge ? this.chargeOf(permit, call) : undefined;
    try {
      verdict = this.judge({ value });
      hooks.onVerdict?.(verdict);
      if (hooks.keep !== undefined) {
        const kept = new GatePermit(this, permit, charge);
        if (hooks.keep(value, kept)) {
          kept.measure(verdict);
          this.settleBy(value, charge, call);
          return;
        }
      }
    } catch (mistake) {
      this.end(permit, IGNORED);
      throw mistake;
    }
    this.end(permit, verdict);
    // After the answer's hints were heeded: a refused call gets its tokens back for its next attempt.
    this.settleBy(value, charge, call);
  }

  /** The error for the caller: that of the call, or the one that `classify` threw. */
  #onError<T>(permit: Permit, error: unknown, hooks: RunHooks<T>): unknown {
    try {
      const verdict = this.judge({ error });
      hooks.onVerdict?.(verdict);
      this.end(permit, verdict);
      return error;
    } catch (mistake) {
      this.end(permit, IGNORED);
      return mistake;
    }
  }

  /** Before the permit is handed over: what the answer asks for holds for the next call already. */
  #note(permit: Permit, verdict: Verdict, nowMs: number): void {
    this.#obey(permit, verdict, nowMs);
    if (verdict.outcome === "ok") this.#queue.onServed(nowMs, nowMs - permit.startedAtMs);
    const { busy } = this.#options;
    const load = this.#loadOf(verdict);
    if (busy === undefined || load === "ignored") return;
    busy.onAnswer(permit.startedAtMs, load === "busy", nowMs);
    this.#events?.busyLimit(busy, nowMs);
  }

  /**
   * The outcome as far as the peer's load goes. A busy answer that names a rate of the gate says that the
   * rate was exceeded, not that fewer calls at once would be served.
   */
  #loadOf({ outcome, hints }: Verdict): Outcome {
    if (outcome !== "busy" || hints === undefined) return outcome;
    const isOfRates = hints.length > 0 && hints.every((hint) => this.#rateOf(hint) !== undefined);
    return isOfRates ? "ignored" : outcome;
  }

  /** The rate of the gate that the hint speaks of; undefined if the gate has none of that name. */
  #rateOf({ rate }: Hint): string | undefined {
    return rate === undefined ? undefined : this.#options.rates?.nameLike(rate);
  }

  #obey(permit: Permit, { pauseMs = 0, hints, outcome }: Verdict, nowMs: number): void {
    let allMs = pauseMs;
    for (const hint of hints ?? []) {
      const { rate, isOfEveryCall = rate === undefined } = hint;
      const hintMs = pauseOf(hint) ?? 0;
      const own = this.#rateOf(hint);
      // A rate of the gate spaces the calls after its pause; only a pause of all calls needs a pace.
      if (own !== undefined) this.pause(hintMs, nowMs, own);
      // A served answer that tells of a limit of other calls is no reason to hold all of them.
      else if (isOfEveryCall || outcome === "busy") allMs = Math.max(allMs, hintMs);
    }
    if (allMs === 0 || !this.pause(allMs, nowMs)) return;
    if (outcome === "busy") this.#queue.onHint(nowMs, permit.startedAtMs);
  }
}

/** Whether the call must be answered before its function settles. */
function isWatched({ deadlineAtMs, attemptTimeoutMs, signal }: Call): boolean {
  return deadlineAtMs !== undefined || attemptTimeoutMs !== undefined || signal !== undefined;
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value;
}

function keepEstimate(): void {
  // The call was served; that its cost could not be read is no reason to fail it.
}
