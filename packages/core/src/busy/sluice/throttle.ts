import { Pacer } from "../../pace/pacer.ts";
import { RecentRate } from "../../rate/recent-rate.ts";
import { systemClock } from "../../system.ts";
import type { Clock } from "../../time.ts";
import { OPEN, requireSentAt } from "../busy-throttle.ts";
import type { BusyState, BusyThrottle } from "../busy-throttle.ts";
import { busyRatioOf } from "./answer-count.ts";
import type { AnswerCount } from "./answer-count.ts";
import { BURST_MIN, CATCH_UP_MS, RATE_MIN } from "./constants.ts";
import { climbCoolDownMs, ClimbCost, coolDownMs } from "./cool-down.ts";
import { Evidence } from "./evidence.ts";
import { ProbeTally } from "./probe.ts";
import { RandomBusy } from "./random-busy.ts";
import * as rule from "./rule.ts";
import type { Measured } from "./rule.ts";
import type { CoolDown, Probing, State } from "./state.ts";

export interface SluiceBusyThrottleOptions {
  /**
   * Where instants come from.
   *
   * @default the monotonic clock of the system
   */
  readonly clock?: Clock;
}

/**
 * Finds the rate that a busy peer accepts and stays just below it. What it decides is in `rule.ts`;
 * this class counts, measures and paces.
 *
 * - A cut goes to what was accepted of what was sent, at most by half. Answers to requests that were
 *   sent before the last cut never cut again, so a burst of busy answers is one cut.
 * - The last good rate is remembered: the way back to it doubles, around it steps are 2 %, and beyond
 *   it they grow, as long as no probe is answered busy. A cool-down lies before each climb.
 * - Growth needs requests that were really sent: a limit never passes twice what was sent.
 *
 * Memory does not grow with requests: one is known by the instant at which it was sent.
 *
 * @example
 * const throttle = new SluiceBusyThrottle();
 * if (!throttle.trySend()) throw new Error(`busy; try again in ${throttle.pauseMs()} ms`);
 * const sentAtMs = performance.now();
 * const response = await fetch(url);
 * throttle.onAnswer(sentAtMs, response.status === 429 || response.status === 503);
 */
export class SluiceBusyThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #sent: RecentRate;
  readonly #accepted: RecentRate;
  readonly #random = new RandomBusy();
  readonly #evidence = new Evidence();
  readonly #climbCost = new ClimbCost();
  readonly #pacer = new Pacer({ catchUpMs: CATCH_UP_MS, burstMin: BURST_MIN });
  #state: State = { phase: "open", judgedFromMs: -Number.MAX_VALUE };
  /** Counts for the probe; undefined unless one is under way. */
  #probe: ProbeTally | undefined;
  /** When the last request was sent that was answered busy. */
  #lastBusyMs: number = -Number.MAX_VALUE;
  /** The last round trip. */
  #rttMs = 0;

  constructor({ clock = systemClock }: SluiceBusyThrottleOptions = {}) {
    this.#clock = clock;
    const nowMs = clock.now();
    this.#sent = new RecentRate(nowMs);
    this.#accepted = new RecentRate(nowMs);
  }

  /** As the last request or answer left it; what time alone brings comes with the next one. */
  state(): BusyState {
    if (this.#state.phase === "open") return OPEN;
    const { rate, move } = this.#state.limit;
    return { limit: rate, move };
  }

  pauseMs(nowMs: number = this.#clock.now()): number {
    return this.#pacer.pauseMs(nowMs);
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    this.#advance(nowMs);
    if (!this.#pacer.tryTake(nowMs)) return false;
    this.#sent.record(nowMs, this.#rttMs);
    this.#probe?.onSend(nowMs);
    return true;
  }

  onAnswer(sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    requireSentAt(sentAtMs);
    this.#advance(nowMs);
    this.#rttMs = Math.max(0, nowMs - sentAtMs);
    if (isBusy) this.#lastBusyMs = Math.max(this.#lastBusyMs, sentAtMs);
    else this.#accepted.record(nowMs, this.#rttMs);
    this.#climbCost.onAnswer(sentAtMs, isBusy, this.#random.ratio(nowMs));
    const state = this.#state;
    if (sentAtMs <= state.judgedFromMs) return;
    if (state.phase === "probing" && sentAtMs >= state.plan.startedAtMs) {
      this.#onProbeAnswer(state, sentAtMs, isBusy, nowMs);
      return;
    }
    if (!isBusy && state.phase === "cool-down" && state.acceptedAtMs === undefined)
      this.#state = { ...state, acceptedAtMs: nowMs };
    this.#random.onAnswer(isBusy);
    const randomRatio = this.#random.ratio(nowMs);
    const sample = this.#evidence.onAnswer(isBusy, randomRatio, nowMs, this.#rttMs);
    if (sample !== undefined) this.#onOverload(sample, nowMs);
  }

  /** What time alone brings: the end of a sample, of a cool-down, or of a probe without answers. */
  #advance(nowMs: number): void {
    if (this.#evidence.isSampling) {
      const randomRatio = this.#random.ratio(nowMs);
      const sample = this.#evidence.confirmed(randomRatio, nowMs, this.#rttMs);
      if (sample !== undefined) this.#onOverload(sample, nowMs);
    }
    const state = this.#state;
    if (state.phase === "open") return;
    if (state.phase === "cool-down") {
      if (this.#isCool(state, nowMs)) this.#afterCoolDown(state, nowMs);
      return;
    }
    if (this.#probe?.isOverdue(nowMs, this.#rttMs) === true)
      this.#enter(rule.dropProbe(state, nowMs), nowMs);
  }

  #isCool({ limit, acceptedAtMs }: CoolDown, nowMs: number): boolean {
    const isNear = rule.isNear(limit);
    // Far below the last good rate a sample takes long, and a probe is judged by itself.
    if (this.#evidence.isSampling && isNear) return false;
    if (this.#random.isOnTrial(nowMs) || acceptedAtMs === undefined) return false;
    const busyForMs = Math.max(0, this.#lastBusyMs - limit.overloadedAtMs);
    const climbMs = isNear ? climbCoolDownMs(limit, this.#climbCost.busy) : 0;
    return nowMs - acceptedAtMs >= coolDownMs(busyForMs) + climbMs;
  }

  #afterCoolDown(state: CoolDown, nowMs: number): void {
    const measured = this.#measured(nowMs);
    if (rule.isRecovered(state, measured, this.#pacer.hasSpare)) {
      this.#enter(rule.open(state), nowMs);
      return;
    }
    if (!rule.isUsed(state, measured)) return;
    const slower = rule.giveWay(state, measured);
    if (slower !== undefined) {
      this.#enter(slower, nowMs);
      this.#evidence.reset(nowMs);
    }
    const probing = rule.startProbe(slower ?? state, measured);
    if (probing.plan.climb !== undefined) this.#climbCost.begin(nowMs);
    this.#enter(probing, nowMs);
  }

  #onOverload(sample: AnswerCount, nowMs: number): void {
    const state = this.#state;
    // At the lowest rate another cool-down would only delay recovery.
    if (state.phase !== "open" && state.limit.rate <= RATE_MIN) return;
    const cause = this.#random.judge(nowMs, this.#rttMs);
    if (cause === "unknown") return;
    if (cause === "random" && state.phase !== "open") {
      this.#enter(rule.undoCuts(state, this.#random.rateBefore, nowMs), nowMs);
      return;
    }
    const measured = this.#measured(nowMs);
    const sent = rule.sentRate(state, measured);
    const acceptedRatio = (1 - busyRatioOf(sample)) / (1 - this.#random.ratio(nowMs));
    this.#random.onCut(sample, sent, nowMs);
    if (state.phase === "open") this.#climbCost.clear();
    this.#evidence.reset(nowMs);
    this.#enter(rule.cut(state, sent, Math.min(1, acceptedRatio), measured), nowMs);
  }

  #onProbeAnswer(state: Probing, sentAtMs: number, isBusy: boolean, nowMs: number): void {
    const probe = this.#probe as ProbeTally;
    const verdict = probe.onAnswer(sentAtMs, isBusy);
    if (verdict === "kept") {
      if (this.#evidence.isSampling) this.#evidence.reset(nowMs);
      this.#enter(rule.keepProbe(state, probe.sentPerSecond, this.#measured(nowMs)), nowMs);
    } else if (verdict === "failed") {
      this.#enter(rule.failProbe(state, this.#measured(nowMs)), nowMs);
    } else if (verdict === "unused") {
      this.#enter(rule.dropProbe(state, nowMs), nowMs);
    }
  }

  #enter(state: State, nowMs: number): void {
    this.#state = state;
    this.#probe = state.phase === "probing" ? new ProbeTally(state.plan) : undefined;
    if (state.phase === "cool-down") this.#climbCost.end(nowMs);
    this.#pacer.setRate(rule.sendRate(state), nowMs);
  }

  #measured(nowMs: number): Measured {
    const randomRatio = this.#random.ratio(nowMs);
    return {
      nowMs,
      rttMs: this.#rttMs,
      sent: this.#sent.perSecond(nowMs),
      sentPeak: this.#sent.peak,
      accepted: this.#accepted.perSecond(nowMs),
      acceptedPeak: this.#accepted.peak,
      busyRatio: this.#evidence.busyRatio(randomRatio),
      usualBusyRatio: Math.max(this.#evidence.usualBusyRatio, randomRatio),
      climbCost: this.#climbCost.busy,
    };
  }
}
