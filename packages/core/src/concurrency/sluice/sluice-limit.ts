import { requireWhole } from "../../errors.ts";
import type { Random } from "../../random.ts";
import { RecentRate } from "../../rate/recent-rate.ts";
import { systemRandom } from "../../system.ts";
import type { EndedAttempt, LimitAlgorithm, LimitBounds, LimitDecision } from "../algorithm.ts";
import { Ewma } from "../ewma.ts";
import { baselineOf } from "./baseline.ts";
import { LIMIT_MAX, RTT_ALPHA } from "./constants.ts";
import { judgeCruise } from "./cruise.ts";
import { judgeDrain } from "./drain.ts";
import { evidenceOf, isReady } from "./evidence.ts";
import { FREE_GROWTH } from "./growth.ts";
import { cleared, correctCut, endOutage, judgeLoss, suspected } from "./loss.ts";
import { isProbe, onProbeIgnored, onProbeServed, onProbeStart } from "./probe.ts";
import { RandomLosses } from "./random-losses.ts";
import { RttWindow } from "./rtt-window.ts";
import { StartPace } from "./start-pace.ts";
import { growStart, judgeStart } from "./start.ts";
import { limitOf, wholeLimitOf } from "./state.ts";
import type { Ruling, State } from "./state.ts";
import { Tried } from "./tried.ts";

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
 *   nothing is served, single attempts go out after cool-downs. See `loss.ts` and `random-losses.ts`.
 * - **Waiting**. By Little's law `queued ≈ inFlight × (1 − baselineRtt ÷ rtt)`. A queue that chance
 *   does not explain lowers the limit. The baseline is measured now and then with the limit lowered
 *   for a moment. See `evidence.ts`, `cruise.ts` and `drain.ts`.
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
      cut: { atMs: Number.NEGATIVE_INFINITY, inARow: 0, isExplained: false },
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

  onStart(nowMs: number, inFlight: number, weight: number): void {
    this.#pace.onStart(nowMs);
    if (inFlight >= wholeLimitOf(this.#state)) this.#window.isReached = true;
    this.#tried.onStart(nowMs, inFlight);
    this.#become(onProbeStart(this.#state, inFlight, weight));
  }

  onBlocked(nowMs: number): void {
    if (this.#pace.pauseMs(nowMs) > 0) this.#pace.onBlocked(nowMs);
    else this.#window.isReached = true;
  }

  onEnd(attempt: EndedAttempt): LimitDecision | undefined {
    const limitBefore = this.limit;
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
    if (isCut === true) this.#losses.onCut();
  }

  #rule(attempt: EndedAttempt): Ruling | undefined {
    const { outcome, inFlightAtStart, endedAtMs } = attempt;
    switch (outcome) {
      case "ok":
        return this.#onServed(attempt) ?? this.#judgeWindow(endedAtMs);
      case "ignored":
        return isProbe(this.#state, inFlightAtStart) ? onProbeIgnored(this.#state) : undefined;
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
    this.#state = cleared(this.#state, attempt);
    this.#accepted ??= new RecentRate(startedAtMs);
    this.#accepted.record(endedAtMs, rttMs);
    const isSinceCut = startedAtMs > this.#state.cut.atMs;
    this.#losses.onServed(isSinceCut);
    if (isSinceCut) {
      this.#pace.onServed(endedAtMs, meanMs);
      if (this.#state.phase.name === "outage")
        return this.#endOutage(this.#state.phase.resumeLimit);
    }
    const typicalMs = Math.min(rttMs, meanMs);
    this.#window.add({ rttMs, typicalMs, weight }, endedAtMs, inFlight < this.limit);
    if (isProbe(this.#state, inFlightAtStart)) return this.#onProbeServed();
    if (this.#state.phase.name === "start" && this.#window.isReached)
      this.#become(growStart(this.#state, weight, this.#maxLimit));
    return undefined;
  }

  #onProbeServed(): Ruling | undefined {
    const ruling = onProbeServed(this.#state, this.#maxLimit);
    if (ruling.cause !== undefined) return ruling;
    this.#become(ruling.state);
    return undefined;
  }

  #endOutage(resumeLimit: number): Ruling {
    // The losses of a peer that was down from the beginning say nothing about a pace.
    if (this.#state.baseline === undefined) this.#pace.forgetLosses();
    return endOutage(this.#state, resumeLimit);
  }

  #onLoss(attempt: EndedAttempt, cause: "busy" | "failed"): Ruling | undefined {
    const { startedAtMs, endedAtMs: nowMs, inFlightAtStart } = attempt;
    const { cut } = this.#state;
    const isSinceCut = startedAtMs > cut.atMs;
    const isFirstTry = this.#tried.isFirst(startedAtMs, inFlightAtStart);
    this.#losses.onLoss(isSinceCut);
    if (!isSinceCut) {
      this.#pace.onLoss();
      return correctCut(this.#state, attempt, cause, isFirstTry);
    }
    const isFirst = cut.inARow === 0;
    const isProbing = isProbe(this.#state, inFlightAtStart);
    // A number in flight is to blame only before the first cut, and while random losses are few.
    const isTelling = isFirst && !this.#losses.areMany;
    if (isTelling && (isProbing || isFirstTry)) this.#state = suspected(this.#state, attempt);
    // A probe is known to be beyond the limit, so its loss is never random.
    if (!(isTelling && isProbing) && this.#isRandom(isFirst, nowMs))
      return isProbing ? this.#onProbeServed() : undefined;
    this.#pace.onLoss();
    const served = this.#tried.servedBelow(inFlightAtStart);
    // After an explained cut too: with weights numbers in flight have gaps, so it may be too high.
    const isExplainable = isFirst || cut.isExplained;
    const mostBelow = isExplainable ? (this.#state.suspect?.limit ?? served) : undefined;
    const rttMs = this.#rtt.mean ?? nowMs - startedAtMs;
    const isServing = isFirst || this.#losses.isServing;
    const acceptedPerSecond = isServing ? this.#accepted?.peak : undefined;
    const loss = { nowMs, cause, rttMs, mostBelow, acceptedPerSecond };
    const { ruling, slowdown } = judgeLoss(this.#state, loss, this.#random);
    if (slowdown?.toPerSecond !== undefined)
      this.#pace.cut(nowMs, slowdown.toPerSecond, slowdown.coolDownMs);
    else if (slowdown !== undefined) this.#pace.coolDown(nowMs, slowdown.coolDownMs);
    return ruling;
  }

  #isRandom(isFirst: boolean, nowMs: number): boolean {
    const kind = this.#losses.judge(isFirst, !this.#pace.isBackAtCut);
    if (kind === "in-vain") this.#pace.end(nowMs);
    // Losses that happen at any pace must not keep the pace from growing.
    if (kind !== "load" && !this.#losses.areMany) this.#pace.onLoss();
    return kind !== "load";
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
    const settings = { maxLimit: this.#maxLimit, random: this.#random };
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
