import { requireWhole } from "../../errors.ts";
import type { Random } from "../../random.ts";
import { RecentRate } from "../../rate/recent-rate.ts";
import { systemRandom } from "../../system.ts";
import type { EndedAttempt, LimitAlgorithm, LimitBounds, LimitDecision } from "../algorithm.ts";
import { Ewma } from "../ewma.ts";
import { baselineOf } from "./waiting/baseline.ts";
import {
  LIMIT_MAX,
  RTT_ALPHA,
  SILENT_ROUND_TRIPS,
  STALL_ATTEMPTS,
  START_GAIN,
} from "./constants.ts";
import { judgeCruise } from "./phases/cruise.ts";
import { judgeDrain } from "./phases/drain.ts";
import { evidenceOf, isReady } from "./waiting/evidence.ts";
import { FREE_GROWTH } from "./phases/growth.ts";
import {
  cleared,
  correctCut,
  endOutage,
  judgeLoss,
  probesPerSecondOf,
  refuted,
  suspected,
  undoCut,
} from "./losses/loss.ts";
import { endStall, lostInOutage, stall, stallAfterMs } from "./losses/stall.ts";
import {
  isProbe,
  isSingleProbe,
  isYieldProbe,
  onProbeEnd,
  onProbeIgnored,
  onProbeStart,
} from "./phases/probe.ts";
import { RandomLosses } from "./losses/random-losses.ts";
import type { LossKind } from "./losses/random-losses.ts";
import { RttWindow } from "./waiting/rtt-window.ts";
import { StartPace } from "./losses/start-pace.ts";
import { ALONE, isShared, isYieldDue, limitKnown, refusedAt, yieldPart } from "./phases/sharing.ts";
import { growStart, judgeStart } from "./phases/start.ts";
import { limitOf, wholeLimitOf } from "./state.ts";
import type { OutagePhase, Ruling, State } from "./state.ts";
import { Tried } from "./losses/tried.ts";

export interface SluiceLimitOptions extends LimitBounds {
  /**
   * Draws how long growth is held, so that clients do not grow in step.
   *
   * @default Math.random
   */
  readonly random: Random;
}

/**
 * Finds what a peer can take by two signals.
 *
 * - **Losses** (`busy` or `failed`). A few are random and change nothing, unless a probe is lost. More
 *   at a number in flight never tried before put the limit one below that number. Others mean that
 *   the peer limits a rate or is shared: starts are paced a little below what was accepted. When
 *   nothing is served, only probes go out, 83 to 100 ms apart; with a full limit three silent round trips
 *   are enough for that. See `losses/` and `phases/sharing.ts`.
 * - **Waiting**. By Little's law `queued ≈ inFlight × (1 − baselineRtt ÷ rtt)`. A queue that chance
 *   does not explain lowers the limit. The baseline is measured now and then with the limit lowered
 *   for a moment. See `waiting/` and `phases/`.
 *
 * The limit grows only when it was reached: fast in the slow start, then by probes. A probe is one
 * attempt beyond the limit, or several away from the edge; the limit moves only after they were served.
 * A peer that refuses everything above its limit so refuses one attempt.
 *
 * @example
 * const limit = new SluiceLimit({ maxLimit: 500 });
 * const limiter = new ConcurrencyLimiter(limit);
 * const permit = limiter.tryAcquire();
 * if (permit !== undefined) send().then(() => permit.end("ok"), () => permit.end("failed"));
 */
export class SluiceLimit implements LimitAlgorithm {
  readonly #random: Random;
  readonly #maxLimit: number = 0;
  #state: State;
  /** `limitOf` the state: read far more often than it changes. */
  #limit = 1;
  // Evidence, gathered attempt by attempt.
  readonly #window = new RttWindow();
  readonly #tried: Tried;
  readonly #losses = new RandomLosses();
  readonly #rtt = new Ewma(RTT_ALPHA);
  readonly #pace = new StartPace();
  #accepted: RecentRate | undefined;
  #servedAtMs: number = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  /** No more may start until an attempt ends. False if the limit was lowered below what is in flight. */
  #isFull = false;
  /** The last answer, or the first start since nothing was in flight. */
  #silentSinceMs = 0;

  constructor(options: Partial<SluiceLimitOptions> = {}) {
    const { initialLimit = 1, maxLimit = 200, random = systemRandom } = options;
    requireWhole("maxLimit", maxLimit, 1, LIMIT_MAX);
    requireWhole("initialLimit", initialLimit, 1, maxLimit);
    this.#random = random;
    this.#maxLimit = maxLimit;
    this.#tried = new Tried(maxLimit);
    this.#state = {
      limit: initialLimit,
      phase: { name: "start" },
      baseline: undefined,
      growth: FREE_GROWTH,
      sharing: ALONE,
      cut: { atMs: Number.NEGATIVE_INFINITY, inARow: 0, isExplained: false, before: undefined },
      suspect: undefined,
    };
    this.#limit = initialLimit;
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(nowMs: number): number {
    return this.#pace.pauseMs(nowMs);
  }

  stallMs(nowMs: number): number | undefined {
    const atMs = this.#stallAtMs;
    return atMs === Infinity ? undefined : Math.max(0, atMs - nowMs);
  }

  onTime(nowMs: number): LimitDecision | undefined {
    if (nowMs < this.#stallAtMs) return undefined;
    const limitBefore = this.#limit;
    const { mean: rttMs = 0 } = this.#rtt;
    const servedPerSecond = this.#accepted?.peak ?? Infinity;
    this.#apply(stall(this.#state, this.#inFlight, nowMs, this.#maxLimit), nowMs);
    this.#pace.probe(nowMs, probesPerSecondOf(servedPerSecond, rttMs, this.#random));
    const { perSecond: startsPerSecond } = this.#pace;
    return { limit: this.#limit, limitBefore, cause: "probe", rttMs, startsPerSecond };
  }

  /** When silence becomes an outage; Infinity if more may start anyway, or no round trip is known. */
  get #stallAtMs(): number {
    const { mean } = this.#rtt;
    const { phase, baseline } = this.#state;
    if (!this.#isFull || mean === undefined || phase.name === "outage") return Infinity;
    const isKnown = baseline !== undefined && baseline.rttsMs.length >= STALL_ATTEMPTS;
    if (!isKnown || this.#limit >= this.#maxLimit) return Infinity;
    const attempts = Math.max(1, this.#inFlight / this.#window.meanWeight);
    return this.#silentSinceMs + stallAfterMs(mean, attempts);
  }

  onStart(nowMs: number, inFlight: number, weight: number): void {
    if (inFlight === weight) this.#silentSinceMs = nowMs;
    this.#inFlight = inFlight;
    this.#isFull = inFlight === this.#limit;
    this.#pace.onStart(nowMs);
    if (inFlight >= wholeLimitOf(this.#state)) this.#window.isReached = true;
    this.#tried.onStart(nowMs, inFlight);
    this.#become(onProbeStart(this.#state, { nowMs, inFlight, weight }));
  }

  onBlocked(nowMs: number): void {
    if (this.#pace.pauseMs(nowMs) > 0) this.#pace.onBlocked(nowMs);
    else {
      this.#window.isReached = true;
      this.#isFull = true;
    }
  }

  onEnd(attempt: EndedAttempt): LimitDecision | undefined {
    const limitBefore = this.limit;
    this.#inFlight = attempt.inFlight;
    this.#isFull = false;
    const isAnswer = attempt.outcome === "ok" || attempt.outcome === "busy";
    // With more in flight than may be, the silence is ours: nothing starts that could be answered.
    if (isAnswer || attempt.inFlight >= limitBefore) this.#silentSinceMs = attempt.endedAtMs;
    const ruling = this.#rule(attempt);
    if (ruling === undefined) return undefined;
    this.#apply(ruling, attempt.endedAtMs);
    const { cause, rttMs } = ruling;
    if (cause === undefined) return undefined;
    const { limit } = this;
    return { limit, limitBefore, cause, rttMs, startsPerSecond: this.#pace.perSecond };
  }

  #become(state: State): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#limit = limitOf(state);
  }

  #apply({ state, window, triedUpTo, isCut, isWell }: Ruling, nowMs: number): void {
    this.#become(state);
    if (window !== "keep") this.#window.restart(nowMs, window === "settle");
    if (triedUpTo !== undefined) this.#tried.forgetAbove(triedUpTo);
    if (isWell === true) this.#losses.age();
    if (isCut === true) this.#losses.onCut(nowMs, state.cut.before !== undefined);
  }

  #rule(attempt: EndedAttempt): Ruling | undefined {
    const { outcome, endedAtMs } = attempt;
    switch (outcome) {
      case "ok":
        return this.#onServed(attempt) ?? this.#judgeWindow(endedAtMs);
      case "ignored":
        return isProbe(this.#state, attempt) ? onProbeIgnored(this.#state) : undefined;
      case "busy":
      case "failed":
        return this.#onLoss(attempt, outcome);
    }
  }

  #onServed(attempt: EndedAttempt): Ruling | undefined {
    const { startedAtMs, endedAtMs, inFlight, inFlightAtStart, weight } = attempt;
    const rttMs = endedAtMs - startedAtMs;
    this.#rtt.update(rttMs);
    const meanMs = this.#rtt.mean ?? rttMs;
    this.#tried.onServed(inFlightAtStart);
    this.#servedAtMs = endedAtMs;
    this.#state = cleared(this.#state, attempt);
    this.#accepted ??= new RecentRate(startedAtMs);
    this.#accepted.record(endedAtMs, rttMs);
    const isSinceCut = startedAtMs > this.#state.cut.atMs;
    this.#losses.onServed(attempt, isSinceCut);
    const ofUse = this.#losses.takeOfUse();
    if (ofUse?.isHalved === true) this.#pace.resume(endedAtMs);
    if (ofUse !== undefined && this.#state.cut.isExplained) this.#state = limitKnown(this.#state);
    if (isSinceCut) this.#pace.onServed(endedAtMs, meanMs);
    if (this.#state.phase.name === "outage") {
      const ruling = this.#endOutage(this.#state.phase, attempt, isSinceCut);
      if (ruling !== undefined) return ruling;
    }
    const typicalMs = Math.min(rttMs, meanMs);
    this.#window.add({ rttMs, typicalMs, weight }, endedAtMs, inFlight < this.limit);
    if (isProbe(this.#state, attempt)) return this.#onProbeEnd(attempt, true);
    if (this.#state.phase.name === "start" && this.#window.isReached)
      this.#become(growStart(this.#state, weight, this.#maxLimit));
    return undefined;
  }

  #onProbeEnd(attempt: EndedAttempt, isServed: boolean): Ruling | undefined {
    const rttMs = this.#rtt.mean ?? attempt.endedAtMs - attempt.startedAtMs;
    const settings = { maxLimit: this.#maxLimit, random: this.#random, rttMs };
    const ruling = onProbeEnd(this.#state, attempt, isServed, settings);
    if (ruling.cause !== undefined) return ruling;
    this.#become(ruling.state);
    return undefined;
  }

  #endOutage(
    phase: OutagePhase,
    { startedAtMs, endedAtMs }: EndedAttempt,
    isSinceCut: boolean,
  ): Ruling | undefined {
    const { interrupted } = phase;
    if (!isSinceCut && interrupted === undefined) return undefined;
    this.#pace.resume(endedAtMs);
    if (interrupted !== undefined) return endStall(this.#state, phase, startedAtMs);
    // The losses of a peer that was down from the beginning say nothing about a pace.
    if (this.#state.baseline === undefined) this.#pace.forgetLosses();
    return endOutage(this.#state, phase.resumeLimit, startedAtMs);
  }

  #onLoss(attempt: EndedAttempt, cause: "busy" | "failed"): Ruling | undefined {
    const { startedAtMs, endedAtMs: nowMs, inFlightAtStart } = attempt;
    const { cut } = this.#state;
    const isSinceCut = startedAtMs > cut.atMs;
    const isFirstTry = this.#tried.isFirst(startedAtMs, inFlightAtStart);
    const isProbing = isProbe(this.#state, attempt);
    if (isSinceCut && isProbing && isYieldProbe(this.#state))
      return this.#onProbeEnd(attempt, false);
    this.#losses.onLoss(attempt, isSinceCut);
    if (this.#state.phase.name === "outage") {
      this.#become(lostInOutage(this.#state, this.#state.phase, attempt.weight));
      return undefined;
    }
    if (!isSinceCut) {
      this.#pace.onLoss();
      return correctCut(this.#state, attempt, cause, isFirstTry);
    }
    const isFirst = cut.inARow === 0;
    // A number in flight is to blame only before the first cut.
    if (isFirst && (isProbing || isFirstTry)) this.#state = suspected(this.#state, attempt);
    const rttMs = this.#rtt.mean ?? nowMs - startedAtMs;
    const isSilent = nowMs - startedAtMs > SILENT_ROUND_TRIPS * rttMs;
    // A peer that has served nothing since the lost attempt started, two round trips ago, is down.
    const isDown = this.#servedAtMs < startedAtMs && isSilent;
    // The loss of a single attempt beyond the limit is never random, while random losses are few.
    const isEdge = isProbing && isSingleProbe(this.#state, attempt.weight);
    const isRefused = isEdge && isFirst && !isDown && !this.#losses.areMany;
    if (isRefused && isSilent) {
      this.#state = refusedAt(this.#state, inFlightAtStart);
      if (isYieldDue(this.#state, nowMs)) return yieldPart(this.#state, nowMs, this.#random);
    }
    if (!isRefused) {
      const kind = this.#kindOf(isFirst, nowMs);
      if (kind === "in-vain") return undoCut(this.#state, attempt.inFlight + attempt.weight);
      if (kind === "doubt") return this.#halve(nowMs);
      if (kind === "random") return isProbing ? this.#onProbeEnd(attempt, false) : undefined;
    }
    this.#pace.onLoss();
    const atOnce = ((this.#accepted?.peak ?? 0) * rttMs * this.#window.meanWeight) / 1000;
    this.#state = refuted(this.#state, atOnce);
    const served = this.#tried.servedBelow(inFlightAtStart);
    // After an explained cut too: with weights numbers in flight have gaps, so it may be too high.
    const isExplainable = isFirst || cut.isExplained;
    const mostBelow = isExplainable && !isDown ? (this.#state.suspect?.limit ?? served) : undefined;
    const isServing = !isDown && (isFirst || this.#losses.isServing);
    const acceptedPerSecond = isServing ? this.#acceptedPerSecond(rttMs) : undefined;
    const servedPerSecond = this.#accepted?.peak ?? Infinity;
    const maxLimit = this.#maxLimit;
    const loss = {
      maxLimit,
      nowMs,
      cause,
      isProbe: isProbing,
      isSilent,
      rttMs,
      mostBelow,
      acceptedPerSecond,
      servedPerSecond,
    };
    const { ruling, slowdown } = judgeLoss(this.#state, loss, this.#random);
    if (slowdown?.kind === "pace") this.#pace.cut(nowMs, slowdown.perSecond, slowdown.coolDownMs);
    else if (slowdown?.kind === "probes") this.#pace.probe(nowMs, slowdown.perSecond);
    return ruling;
  }

  /** Halves the rate to see whether fewer are lost then. Attempts that started before do not count. */
  #halve(nowMs: number): Ruling {
    this.#pace.halve(nowMs, this.#acceptedPerSecond(this.#rtt.mean ?? 0) ?? 1);
    this.#losses.onHalved(nowMs);
    const { cut: last, limit, phase } = this.#state;
    const before = last.before ?? { limit, isStart: phase.name === "start" };
    const cut = { ...last, atMs: nowMs, before };
    return { state: { ...this.#state, cut }, cause: "failed", window: "restart" };
  }

  /** The slow start grows faster than the rate of the last second tells: one round trip ago is telling. */
  #acceptedPerSecond(rttMs: number): number | undefined {
    const peak = this.#accepted?.peak;
    const { phase, limit } = this.#state;
    if (peak === undefined || phase.name !== "start" || rttMs === 0) return peak;
    const weight = this.#window.meanWeight;
    return Math.max(peak, (limit / weight / (1 + START_GAIN)) * (1000 / rttMs));
  }

  #kindOf(isFirst: boolean, nowMs: number): LossKind {
    const isSlowed = !this.#pace.isBackAtCut;
    const { limit } = this;
    const kind = this.#losses.judge({
      isFirst,
      isSlowed,
      isSteady: this.#state.phase.name !== "start",
      isShared: isShared(this.#state, nowMs),
      limit,
    });
    if (kind === "in-vain") this.#pace.end(nowMs);
    // Losses that happen at any pace must not keep the pace from growing.
    if (kind !== "load" && !this.#losses.areMany) this.#pace.onLoss();
    return kind;
  }

  #judgeWindow(nowMs: number): Ruling | undefined {
    const state = this.#state;
    const rtts = this.#window;
    const { phase, baseline } = state;
    if (phase.name === "outage" || !isReady(rtts, state)) return undefined;
    if (baseline === undefined) {
      const first = baselineOf(rtts.rttsMs, nowMs);
      const cause = phase.name === "start" ? "start" : "steady";
      const { meanMs: rttMs } = rtts;
      return { state: { ...state, baseline: first }, cause, rttMs, window: "restart" };
    }
    const seen = evidenceOf(state, baseline, rtts, nowMs);
    const servedPerSecond = this.#accepted?.peak ?? 0;
    const settings = { maxLimit: this.#maxLimit, random: this.#random, servedPerSecond };
    switch (phase.name) {
      case "start":
        return judgeStart(state, seen, this.#maxLimit);
      case "drain":
        return judgeDrain(state, phase, seen);
      case "cruise":
        return judgeCruise(state, phase.probe, seen, settings);
    }
  }
}
