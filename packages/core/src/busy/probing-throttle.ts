import { Ewma } from "../concurrency/ewma.ts";
import { Pacer } from "../pace/pacer.ts";
import type { Reason } from "../reason.ts";
import type { Clock } from "../time.ts";
import { LIMIT_MAX } from "./busy-rule.ts";
import type { BusyMove } from "./busy-rule.ts";
import type { BusyState, BusyThrottle } from "./busy-throttle.ts";
import { Evidence } from "./evidence.ts";
import { Probe } from "./probe.ts";
import { RecentRate } from "../rate/recent-rate.ts";
import { Rest } from "./rest.ts";
import { Strays } from "./strays.ts";
import type { Sample } from "./strays.ts";

/** One probe a second is always allowed, so that a recovery is seen. */
const RATE_MIN = 1;
/** The most that one cut takes. */
const CUT_MAX = 0.5;
/** A cut goes this little below what was accepted. */
const MARGIN = 0.98;

/** Below this share of the last good rate, each step doubles. */
const NEAR = 0.9;
/** First and largest step around and beyond it; the first is larger where rates are slow. */
const STEP = 0.02;
const STEP_SHORT_MAX = 0.05;
const STEP_SLOW_MAX = 0.2;
const STEP_MAX = 0.25;
/** Steps do not grow before a climb is so long: quotas are often counted by the second. */
const CAREFUL_MS = 1000;
/** A climb that ends with steps larger than this has gone too far to begin again from its foot. */
const STEP_LARGE = 0.1;
/** A climb that gained so much was worth what it cost. */
const GAIN = 1.5;

const PROBE_MIN_MS = 100;
const PROBE_MAX_MS = 500;
/** Requests beyond the known rate that a probe has, far below the last good rate and near it. */
const EXTRA_FAR = 1.5;
const EXTRA_NEAR = 2;

/** A share of busy answers that is tolerable, but comes from a rate slightly too high. */
const NUDGE_SHARE = 0.0025;
/** The rate goes down by so many times that share. */
const NUDGE = 4;
const NUDGE_MAX = 0.1;

/**
 * Busy answers at a rate that was good: others are there. A climb that fails then leaves them a
 * little, which makes shares equal in time: who has more leaves more.
 */
const OTHERS_SHARE = 0.001;

/** Sending so near to the rate of the first cut, with allowance to spare, is full recovery. */
const RECOVERED_SHARE = 0.95;
/** More is tried only if so much of the rate is used: what is kept is twice what was sent at most. */
const USED_SHARE = 0.5;

const RTT_ALPHA = 0.1;

/** Requests that a late timer missed are made up for, up to this time, in ms; raised, bursts grow. */
const CATCH_UP_MS = 20;
/** Requests that may be sent at once after a quiet time, at rates of few a second. */
const BURST_MIN = 2;

/**
 * Finds the rate that a busy peer accepts and stays just below it.
 *
 * - A cut goes to what was accepted of what was sent, at most by half. Answers to requests that
 *   were sent before the last cut never cut again, so a burst of busy answers is one cut.
 * - The last good rate is remembered: fast to about it, in steps of 2 % around it, and faster and
 *   faster beyond, as long as no probe is answered busy. How long it rests between, `Rest` knows.
 * - Growth needs requests that were really sent: a limit never passes twice what was sent.
 *
 * Takes no memory per request: one is known by the instant at which it was sent.
 */
export class ProbingBusyThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #sent: RecentRate;
  readonly #accepted: RecentRate;
  readonly #rtt = new Ewma(RTT_ALPHA);
  readonly #strays = new Strays();
  readonly #evidence = new Evidence(this.#strays);
  readonly #rest = new Rest();
  readonly #pacer = new Pacer({ catchUpMs: CATCH_UP_MS, burstMin: BURST_MIN });
  #move: BusyMove = "open";
  /** The limit, once there is one. */
  #rate: number = LIMIT_MAX;
  /** What the peer was last known to take. */
  #good: number = LIMIT_MAX;
  /** The peer accepted something since the last cut. */
  #isProven = true;
  /** Sent when the peer first was busy. */
  #fullRate = 0;
  /** Answers to requests sent up to here are not judged. */
  #judgedFromMs: number = -Number.MAX_VALUE;
  /** When the peer first accepted something that was sent since the last rest began. */
  #acceptedAtMs: number | undefined;
  #probe: Probe | undefined;
  #step = 0;
  #climbFromMs = 0;
  #climbFrom = 0;
  /** The rate before the last step that was kept: the last one that stood for longer than a probe. */
  #rateBefore = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    const nowMs = clock.now();
    this.#sent = new RecentRate(nowMs);
    this.#accepted = new RecentRate(nowMs);
  }

  /** As the last request or answer left it; what time alone brings comes with the next. */
  state(): BusyState {
    return { limit: this.#rate, move: this.#move };
  }

  pauseMs(nowMs: number = this.#clock.now()): number {
    return this.#move === "open" ? 0 : this.#pacer.pauseMs(nowMs);
  }

  trySend(nowMs: number = this.#clock.now()): Reason | undefined {
    this.#advance(nowMs);
    if (this.#move !== "open" && !this.#pacer.tryTake(nowMs)) return "peer-busy";
    this.#sent.record(nowMs, this.#rttMs());
    this.#probe?.onSend(nowMs);
    return undefined;
  }

  onAnswer(sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#advance(nowMs);
    this.#rtt.update(Math.max(0, nowMs - sentAtMs));
    this.#rest.onAnswer(sentAtMs, isBusy, this.#strays.share(nowMs));
    if (!isBusy) this.#accepted.record(nowMs, this.#rttMs());
    if (sentAtMs <= this.#judgedFromMs) return;
    const probe = this.#probe;
    if (probe !== undefined && sentAtMs >= probe.plan.startedAtMs) {
      const verdict = probe.onAnswer(sentAtMs, isBusy);
      if (verdict === "kept") this.#keep(probe, nowMs);
      else if (verdict === "failed") this.#fallBack(probe, nowMs);
      else if (verdict === "unused") this.#settle(this.#rate, nowMs);
      return;
    }
    if (!isBusy) this.#acceptedAtMs ??= nowMs;
    this.#strays.onAnswer(isBusy);
    const sample = this.#evidence.onAnswer(isBusy, nowMs, this.#rttMs());
    if (sample !== undefined) this.#onBusy(sample, nowMs);
  }

  /** Does what time alone brings: ends a sample, or a probe nobody answers; starts one after a rest. */
  #advance(nowMs: number): void {
    if (this.#evidence.isSampling) {
      const sample = this.#evidence.measured(nowMs, this.#rttMs());
      if (sample !== undefined) this.#onBusy(sample, nowMs);
    }
    if (this.#move === "open") return;
    if (this.#probe !== undefined) {
      if (this.#probe.isOverdue(nowMs, this.#rttMs())) this.#settle(this.#rate, nowMs);
      return;
    }
    // Far below the last good rate a sample takes long, and growth is judged by itself.
    if (this.#evidence.isSampling && this.#isNear()) return;
    if (this.#strays.isOnTrial(nowMs)) return;
    if (this.#acceptedAtMs === undefined || nowMs - this.#acceptedAtMs < this.#restMs()) return;
    const sent = this.#sent.perSecond(nowMs);
    if (this.#pacer.hasSpare && sent >= RECOVERED_SHARE * this.#fullRate) this.#open();
    else if (sent >= USED_SHARE * this.#rate) this.#climb(nowMs);
  }

  #restMs(): number {
    if (!this.#isNear()) return this.#rest.lengthMs();
    return this.#rest.lengthBeforeClimbMs(this.#rate);
  }

  #open(): void {
    this.#move = "open";
    this.#rate = LIMIT_MAX;
    this.#isProven = true;
  }

  /** The peer is busy: sends less, or takes back the cuts that have changed nothing. */
  #onBusy(sample: Sample, nowMs: number): void {
    // Another rest would only delay the way up.
    if (this.#rate <= RATE_MIN) return;
    const cause = this.#strays.judge(nowMs, this.#rttMs());
    if (cause === "unknown") return;
    if (cause === "stray") {
      this.#isProven = true;
      this.#good = Math.max(this.#strays.fromRate, this.#good);
      this.#settle(this.#strays.fromRate, nowMs);
      this.#move = "recover";
      return;
    }
    const sent = Math.max(RATE_MIN, Math.min(this.#rate, this.#sent.peak));
    const acceptedShare = (1 - sample.busy / sample.answers) / (1 - this.#strays.share(nowMs));
    this.#strays.onCut(sample, sent, nowMs);
    this.#cut(sent, Math.min(1, acceptedShare), nowMs);
  }

  #cut(sent: number, acceptedShare: number, nowMs: number): void {
    if (this.#move === "open") {
      this.#fullRate = sent;
      this.#rest.onOverload(nowMs);
    }
    const accepted = this.#accepted.perSecond(nowMs);
    const share = MARGIN * acceptedShare;
    // A peer that counts by the second refuses all that is left of one, and still takes as much.
    const lowest = CUT_MAX * Math.max(sent, accepted);
    const rate = Math.min(sent, Math.max(share * sent, lowest));
    // Cuts that follow cuts tell nothing of what is good.
    if (this.#isProven) {
      const recently = share >= CUT_MAX ? accepted : this.#accepted.peak;
      this.#good = Math.max(rate, MARGIN * Math.min(sent, recently));
    }
    this.#move = "cut";
    this.#isProven = false;
    this.#evidence.reset(nowMs);
    this.#settle(rate, nowMs);
  }

  /** Stays at a rate for a rest. */
  #settle(settled: number, nowMs: number): void {
    const rate = Math.max(RATE_MIN, settled);
    this.#rate = rate;
    this.#rateBefore = rate;
    this.#probe = undefined;
    this.#step = 0;
    this.#acceptedAtMs = undefined;
    this.#judgedFromMs = nowMs;
    this.#rest.onClimbEnd(nowMs);
    this.#pacer.setRate(rate, nowMs);
  }

  #isNear(): boolean {
    return this.#rate >= NEAR * this.#good;
  }

  #climb(nowMs: number): void {
    if (this.#isNear()) {
      const busyShare = this.#evidence.busyShare(nowMs);
      if (busyShare > NUDGE_SHARE) {
        this.#settle(this.#rate * (1 - Math.min(NUDGE * busyShare, NUDGE_MAX)), nowMs);
        this.#good = this.#rate;
        this.#evidence.reset(nowMs);
      }
      this.#rest.onClimb(nowMs, this.#rate, this.#rate > GAIN * this.#climbFrom);
      this.#climbFromMs = nowMs;
      this.#climbFrom = this.#rate;
    }
    this.#tryMore(nowMs);
  }

  #tryMore(nowMs: number): void {
    const isNear = this.#isNear();
    const lengthMinMs = Math.min(PROBE_MAX_MS, Math.max(PROBE_MIN_MS, this.#rttMs()));
    if (isNear) {
      // Whole requests beyond the known rate, within the shortest probe or else within a second.
      const soon = Math.min(STEP_SHORT_MAX, (EXTRA_NEAR * 1000) / (this.#rate * PROBE_MIN_MS));
      const inSecond = Math.min(STEP_SLOW_MAX, EXTRA_NEAR / this.#rate);
      const first = Math.max(STEP, soon, inSecond);
      const isCareful = nowMs - this.#climbFromMs < CAREFUL_MS;
      this.#step = Math.min(STEP_MAX, Math.max(first, isCareful ? this.#step : 2 * this.#step));
    }
    const to = isNear ? this.#rate * (1 + this.#step) : Math.min(2 * this.#rate, this.#good);
    const extraMs = ((isNear ? EXTRA_NEAR : EXTRA_FAR) * 1000) / (to - this.#rate);
    this.#probe = new Probe({
      from: this.#rate,
      to,
      startedAtMs: nowMs,
      lengthMs: Math.max(lengthMinMs, extraMs),
      strayShare: this.#evidence.strayShare(nowMs),
    });
    this.#pacer.setRate(to, nowMs);
  }

  #keep(probe: Probe, nowMs: number): void {
    const wasNear = this.#isNear();
    this.#isProven = true;
    this.#move = "recover";
    this.#rateBefore = this.#rate;
    this.#rate = Math.max(this.#rate, Math.min(probe.plan.to, 2 * probe.sentPerSecond));
    this.#good = Math.max(this.#good, this.#rate);
    if (this.#evidence.isSampling) this.#evidence.reset(nowMs);
    if (wasNear === this.#isNear()) this.#tryMore(nowMs);
    else this.#settle(this.#rate, nowMs);
  }

  #fallBack(probe: Probe, nowMs: number): void {
    const accepted = this.#accepted.perSecond(nowMs);
    const rate = this.#rate;
    this.#isProven = false;
    if (this.#isNear()) {
      const isLarge = this.#step > STEP_LARGE;
      const share = this.#evidence.busyShare(nowMs) > OTHERS_SHARE ? MARGIN : 1;
      const back = share * Math.max(this.#climbFrom, Math.min(this.#rateBefore, accepted));
      this.#settle(back, nowMs);
      this.#good = isLarge ? Math.max(back, MARGIN * rate) : back;
      return;
    }
    this.#settle(rate, nowMs);
    // Of a peer that accepts next to nothing, a failed probe tells nothing about its good rate.
    if (accepted < CUT_MAX * rate) return;
    const between = (rate + probe.plan.to) / 2;
    this.#good = Math.max(rate, Math.min(this.#accepted.peak, between));
  }

  #rttMs(): number {
    return this.#rtt.mean ?? 0;
  }
}
