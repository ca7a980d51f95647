import { requireWhole } from "../errors.ts";
import type { Random } from "../random.ts";
import { RecentRate } from "../rate/recent-rate.ts";
import type {
  LimitAlgorithm,
  LimitBounds,
  LimitCause,
  LimitDecision,
  Sample,
} from "./algorithm.ts";
import { Baseline } from "./baseline.ts";
import { Ewma } from "./ewma.ts";
import { Growth } from "./growth.ts";
import type { Measured } from "./measured.ts";
import { RttWindow } from "./rtt-window.ts";
import { StartPace } from "./start-pace.ts";
import { Strays } from "./strays.ts";
import { Tried } from "./tried.ts";

/**
 * `start`: the limit grows with every attempt served. `cruise`: it stays at what the peer takes
 * and tries a little more from time to time. `drain`: it is lowered for a moment, to see the peer
 * without a queue of ours.
 */
type Phase = "start" | "cruise" | "drain";

/** A drain: where the limit goes after it, and what it is for. */
interface Drain {
  readonly limitBefore: number;
  readonly resumeLimit: number;
  /** Deep enough for the whole queue, and so to forget what was believed before. */
  readonly isDeep: boolean;
  /** What ended the start, to be judged again by a better baseline. */
  readonly startRttsMs: readonly number[] | undefined;
}

/** Growth for each attempt served at the start: times 1.6 in a round trip. */
const START_GAIN = 0.6;
/** At the start a queue is looked for this often: its signs come a round trip late. */
const START_COUNT = 8;
const START_PART = 0.25;
/** Round trips of the start that the baseline begins with. */
const START_SAMPLES_MAX = 64;
/** What is left of the limit when a queue ended the start, until the baseline is measured. */
const START_DRAIN = 1 / 3;

/** Round trips that are looked at together: this many at most, or three for each in flight. */
const SAMPLES = 128;
const SAMPLES_PER_LIMIT = 3;
const SAMPLES_MAX = 512;
/** Round trips that a window has at least. */
const WINDOW_MIN = 16;
/** And a drained one, unless they hardly differ. */
const DRAIN_MIN = 48;
const DRAIN_ERROR = 0.02;

/** What a drain leaves of the limit. */
const DRAIN_SHALLOW = 0.8;
const DRAIN_DEEP = 0.5;
/** So many times the baseline with hardly any in flight: the peer has become slower. */
const SLOWER = 1.5;
/** What is left of the limit then, until it is found again. */
const SLOWER_RESUME = 0.5;
/** Round trips in a deep drain that are off by so many standard errors replace the baseline. */
const OTHER = 3;
/** Or by so many, if it is also by this part. */
const OTHER_FAR = 2;
const FAR = 0.25;
/** A baseline is believed for so long while something queues. */
const BASELINE_MS = 10_000;
/** After so long, round trips that fall by themselves are joined: somebody else drains. */
const BASELINE_JOIN_MS = 5000;
/** Standard errors by which they must have fallen. */
const FALL = 2.5;

/** Losses overtake each other by a few only: one with fewer in flight than this part is another. */
const OVERTAKEN = 0.75;

/** Round trips without growth after a loss, with a queue, after a drain. */
const HOLD_LOSS = 20;
const HOLD_QUEUE = 4;
const HOLD_DRAIN = 2;

/** While nothing at all is served: rests between single attempts, and what comes back after them. */
const REST_MIN_MS = 100;
const REST_MAX_MS = 2000;
const OUTAGE_LEFT = 0.7;

/** A probe that is not back after so many round trips tells nothing: somebody polls, or waits. */
const PROBE_ROUND_TRIPS = 30;

const RTT_ALPHA = 0.1;

/**
 * Finds what a peer can take by two signals, each with a law of its own.
 *
 * - **Losses** (busy or failed). A few are strays and do nothing, unless it is a probe that is lost.
 *   More are explained if some had a number in flight never tried before: the limit goes one below
 *   the least such number. Others are not: what the peer limits is then a rate, or others share it,
 *   and starts are paced a little below what was accepted. When nothing at all is served, single
 *   attempts go out after ever longer rests. Losses of attempts that started before the last cut do
 *   not cut again; they can only tell that the number was a smaller one. Losses that become no fewer
 *   when starts are slowed down are put up with.
 * - **Waiting**. How many of those in flight wait is what their round trips have become longer by
 *   since the baseline, by Little's law. More than chance explains: the limit goes down by so many.
 *   The baseline is what was measured with the limit lowered, now and then, for a moment.
 *
 * It grows only when it was reached: fast at the start, then by probes. A probe is an attempt beyond
 * the limit, or several where the edge is not near; the limit moves only after they were served. So
 * a peer that turns everything away when there is one too many turns away one.
 */
export class SluiceLimit implements LimitAlgorithm {
  readonly #limitMax: number = 0;
  readonly #baseline = new Baseline();
  readonly #window = new RttWindow();
  readonly #growth: Growth;
  readonly #pace = new StartPace();
  readonly #rtt = new Ewma(RTT_ALPHA);
  #accepted: RecentRate | undefined;
  /** Real, so that small limits shrink and grow by parts. */
  #limit = 1;
  #phase: Phase = "start";
  #isReached = false;

  readonly #tried: Tried;
  readonly #strays = new Strays();
  /** The most in flight that the losses since the last cut leave as good, if they tell. */
  #mostBelow: number | undefined;
  #notedAtMs = 0;
  #cutAtMs: number = Number.NEGATIVE_INFINITY;
  /** Cuts in a row, without a window in between that went well. */
  #cuts = 0;
  /** Whether the last cut went to where the number in flight was the reason. */
  #isCutExplained = false;
  /** The limit to come back to when something is served again. */
  #limitBeforeOutage: number | undefined;
  #restMs = 0;

  #probeStep = 0;
  #probesLeft = 0;
  #probesOut = 0;
  #probedAtMs = 0;

  #drain: Drain | undefined;
  #baselineAtMs = 0;
  #shiftBefore: Measured | undefined;

  constructor(random: Random, bounds: Partial<LimitBounds> = {}) {
    const { initialLimit = 1, limitMax = 200 } = bounds;
    requireWhole("limitMax", limitMax, 1, LIMIT_MAX);
    requireWhole("initialLimit", initialLimit, 1, limitMax);
    this.#growth = new Growth(random);
    this.#tried = new Tried(limitMax);
    this.#limit = initialLimit;
    this.#limitMax = limitMax;
  }

  get limit(): number {
    return this.#wholeLimit + this.#probesLeft;
  }

  pauseMs(nowMs: number): number {
    return this.#pace.pauseMs(nowMs);
  }

  onStart(nowMs: number, inFlight: number): void {
    this.#pace.onStart(nowMs);
    if (inFlight >= this.#wholeLimit) this.#isReached = true;
    this.#tried.onStart(nowMs, inFlight);
    if (this.#probesLeft === 0 || inFlight <= this.#wholeLimit) return;
    this.#probesLeft--;
    this.#probesOut++;
  }

  onEnd(sample: Sample): LimitDecision | undefined {
    const limitBefore = this.limit;
    const decided = this.#decide(sample);
    if (decided === undefined) return undefined;
    return {
      limit: this.limit,
      limitBefore,
      cause: decided.cause,
      rttMs: decided.rttMs,
      startsPerSecond: this.#pace.perSecond,
    };
  }

  /** Round trips worth keeping: the more in flight, the finer must a queue of few be seen. */
  get #samplesMax(): number {
    return Math.min(SAMPLES_MAX, Math.max(SAMPLES, SAMPLES_PER_LIMIT * this.#limit));
  }

  get #wholeLimit(): number {
    return Math.floor(this.#limit);
  }

  #decide(sample: Sample): Decided | undefined {
    if (sample.outcome === "ignored") {
      this.#endProbe(sample, false);
      return undefined;
    }
    if (sample.outcome !== "ok") return this.#onLoss(sample, sample.outcome);
    return this.#onServed(sample) ?? this.#judgeWindow(sample.endedAtMs);
  }

  #onLoss(sample: Sample, cause: "busy" | "failed"): Decided | undefined {
    const { startedAtMs, endedAtMs, inFlightAtStart } = sample;
    const isSinceCut = startedAtMs > this.#cutAtMs;
    this.#strays.onLoss(isSinceCut);
    if (!isSinceCut) {
      this.#pace.onLoss();
      return this.#correctCut(sample, cause);
    }
    const isFirst = this.#cuts === 0;
    const isProbe = this.#probesOut > 0 && inFlightAtStart > this.#wholeLimit;
    const isTelling = isFirst && !this.#strays.areMany;
    if (isTelling) this.#noteMostBelow(sample, isProbe);
    if (!(isTelling && isProbe) && this.#isStray(isFirst))
      return this.#endProbe(sample, !isTelling);
    this.#pace.onLoss();
    const mostBelow = isFirst
      ? (this.#mostBelow ?? this.#tried.servedBelow(inFlightAtStart))
      : undefined;
    const rttMs = this.#rtt.mean ?? endedAtMs - startedAtMs;
    if (mostBelow === undefined) this.#slowDown(endedAtMs, rttMs);
    else this.#limit = Math.min(this.#limit, mostBelow);
    this.#growth.stopAt(this.#limit, "loss", { nowMs: endedAtMs, rttMs });
    this.#growth.hold(endedAtMs, HOLD_LOSS, rttMs);
    this.#cuts++;
    this.#cut(endedAtMs);
    this.#isCutExplained = mostBelow !== undefined;
    return { cause, rttMs: undefined };
  }

  /**
   * An attempt that was lost when so many were tried for the first time tells that one less is good.
   * Losses overtake each other, so the least of some is kept.
   */
  #noteMostBelow(sample: Sample, isProbe: boolean): void {
    const { startedAtMs, endedAtMs, inFlightAtStart } = sample;
    const isTold = isProbe || this.#tried.isFirst(startedAtMs, inFlightAtStart);
    if (!isTold || inFlightAtStart === 1) return;
    this.#mostBelow = Math.min(inFlightAtStart - 1, this.#mostBelow ?? inFlightAtStart);
    this.#notedAtMs = endedAtMs;
  }

  /**
   * What was noted was a stray if more are served after it. Those that were in flight with it tell
   * nothing: who never answers keeps no place, so there were fewer than it seemed.
   */
  #refuteMostBelow({ startedAtMs, inFlightAtStart }: Sample): void {
    if (this.#mostBelow === undefined || startedAtMs <= this.#notedAtMs) return;
    if (inFlightAtStart > this.#mostBelow) this.#mostBelow = undefined;
  }

  /** The loss of a few less in flight may even come back after the limit was cut. */
  #correctCut(sample: Sample, cause: "busy" | "failed"): Decided | undefined {
    const { startedAtMs, inFlightAtStart } = sample;
    const isNear = inFlightAtStart <= this.#limit && inFlightAtStart > OVERTAKEN * this.#limit;
    if (!this.#isCutExplained || !isNear || inFlightAtStart === 1) return undefined;
    if (!this.#tried.isFirst(startedAtMs, inFlightAtStart)) return undefined;
    this.#limit = inFlightAtStart - 1;
    this.#endProbing(this.#wholeLimit);
    return { cause, rttMs: undefined };
  }

  #isStray(isFirst: boolean): boolean {
    const kind = this.#strays.judge(isFirst, !this.#pace.isBackAtCut);
    if (kind === "in-vain") this.#pace.end();
    const isStray = kind !== "load";
    // What is always lost must not keep the pace from growing.
    if (isStray && !this.#strays.areMany) this.#pace.onLoss();
    return isStray;
  }

  /** After a loss that the number in flight does not explain. */
  #slowDown(nowMs: number, rttMs: number): void {
    const wasServed = this.#cuts === 0 || this.#strays.isServing;
    if (wasServed && this.#accepted !== undefined) {
      this.#pace.cut(nowMs, this.#accepted.peak, Math.min(REST_MAX_MS, rttMs));
      return;
    }
    this.#limitBeforeOutage ??= OUTAGE_LEFT * this.#limit;
    this.#limit = 1;
    this.#restMs = Math.min(REST_MAX_MS, Math.max(REST_MIN_MS, rttMs, 2 * this.#restMs));
    this.#pace.rest(nowMs, this.#restMs);
  }

  #onServed(sample: Sample): Decided | undefined {
    const { startedAtMs, endedAtMs, inFlight, inFlightAtStart } = sample;
    const rttMs = endedAtMs - startedAtMs;
    this.#rtt.update(rttMs);
    this.#tried.onServed(inFlightAtStart);
    this.#refuteMostBelow(sample);
    this.#accepted ??= new RecentRate(startedAtMs);
    this.#accepted.record(endedAtMs, rttMs);
    const isSinceCut = startedAtMs > this.#cutAtMs;
    this.#strays.onServed(isSinceCut);
    if (isSinceCut) {
      this.#restMs = 0;
      this.#pace.onServed(endedAtMs, this.#rtt.mean ?? rttMs);
      if (this.#limitBeforeOutage !== undefined)
        return this.#endOutage(this.#limitBeforeOutage, endedAtMs);
    }
    const typicalMs = Math.min(rttMs, this.#rtt.mean ?? rttMs);
    this.#window.add({ rttMs, typicalMs }, endedAtMs, inFlight < this.limit);
    if (this.#phase !== "start") return this.#endProbe(sample, true);
    if (this.#isReached) this.#limit = Math.min(this.#limitMax, this.#limit + START_GAIN);
    return undefined;
  }

  #endOutage(limit: number, nowMs: number): Decided {
    this.#limit = Math.max(1, limit);
    this.#limitBeforeOutage = undefined;
    if (this.#baseline.count === 0) {
      // It was down from the beginning: the start comes now.
      this.#pace.forgive();
      this.#phase = "start";
      this.#growth.release();
    }
    this.#window.restartSettling(nowMs);
    return { cause: "room", rttMs: undefined };
  }

  /** Takes the step once the last probe was served. One that tells nothing ends the try. */
  #endProbe({ inFlightAtStart, endedAtMs }: Sample, isServed: boolean): Decided | undefined {
    if (this.#probesOut === 0 || inFlightAtStart <= this.#wholeLimit) return undefined;
    if (!isServed) {
      this.#endProbing(this.#wholeLimit);
      return undefined;
    }
    this.#probesOut--;
    if (this.#probesOut > 0 || this.#probesLeft > 0) return undefined;
    this.#limit = Math.min(this.#limitMax, this.#limit + this.#probeStep);
    this.#growth.onStepTaken();
    this.#window.restartSettling(endedAtMs);
    return { cause: "room", rttMs: undefined };
  }

  /** What was tried beyond `known` counts as never tried. */
  #endProbing(known: number): void {
    this.#probesLeft = 0;
    this.#probesOut = 0;
    this.#tried.forgetAbove(known);
  }

  #judgeWindow(nowMs: number): Decided | undefined {
    const { count } = this.#window;
    const isStart = this.#phase === "start";
    const isReady = isStart
      ? count >= Math.min(Math.max(START_COUNT, START_PART * this.#limit), this.#wholeLimit)
      : this.#window.isReady(Math.min(SAMPLES_MAX, Math.max(WINDOW_MIN, this.#wholeLimit)));
    if (count === 0 || !isReady) return undefined;
    const { meanMs, rttsMs } = this.#window;
    const shift = this.#baseline.shiftOf(rttsMs);
    if (shift === undefined) {
      this.#baseline.absorb(rttsMs, this.#samplesMax);
      this.#window.restart(nowMs);
      return { cause: this.#phase === "start" ? "start" : "steady", rttMs: meanMs };
    }
    const seen: Seen = { nowMs, meanMs, shift, ...this.#waiting(shift, nowMs) };
    if (isStart) return this.#judgeStart(seen);
    if (this.#drain !== undefined) return this.#judgeDrain(this.#drain, seen);
    return this.#judgeCruise(seen);
  }

  /** How many of those in flight wait: by Little's law, the same part of them as of the round trip. */
  #waiting(shift: Measured, nowMs: number): { queue: number; error: number } {
    const { meanMs } = this.#window;
    // Faster than the clock can tell: nothing waits.
    if (meanMs === 0) return { queue: 0, error: 0 };
    const served = this.#window.rate(nowMs) * meanMs;
    const inUse = this.#isReached ? this.#limit : Math.min(this.#limit, served);
    const perMs = inUse / meanMs;
    return { queue: perMs * shift.valueMs, error: perMs * shift.errorMs };
  }

  #judgeStart({ nowMs, meanMs, queue, error }: Seen): Decided {
    const { rttsMs } = this.#window;
    if (queue - 2 * error > startQueue(this.#limit)) {
      this.#growth.pause();
      const drain = {
        limitBefore: this.#limit,
        resumeLimit: this.#limit,
        isDeep: true,
        startRttsMs: rttsMs,
      };
      return this.#startDrain(drain, this.#limit * START_DRAIN, nowMs, "slower");
    }
    if (queue <= 2 * error && this.#baseline.count < START_SAMPLES_MAX)
      this.#baseline.absorb(rttsMs, this.#samplesMax);
    if (this.#limit >= this.#limitMax) this.#phase = "cruise";
    this.#restartWindow(nowMs);
    return { cause: "start", rttMs: meanMs };
  }

  #judgeCruise(seen: Seen): Decided | undefined {
    const { nowMs, meanMs, shift, queue, error } = seen;
    const root = Math.sqrt(this.#limit);
    const isFull = this.#window.isFull(nowMs, this.#samplesMax);
    if (queue - (isFull ? 2 : 3) * error > Math.max(4, 1.5 * root)) {
      const resumeLimit = Math.max(1, this.#limit - queue);
      this.#growth.stopAt(resumeLimit, "queue", { nowMs, rttMs: meanMs });
      const drain = {
        limitBefore: this.#limit,
        resumeLimit,
        isDeep: false,
        startRttsMs: undefined,
      };
      return this.#startDrain(drain, resumeLimit * DRAIN_SHALLOW, nowMs, "slower");
    }
    const isRough = isFull || !this.#growth.isNearEdge(this.#limit, nowMs);
    const hasRoom =
      queue + (isRough ? 0 : error) <
      Math.max(0.3 * root, Math.min(Math.max(1.5, 0.6 * root), 0.5 + error));
    if (!hasRoom && !isFull) return undefined;
    this.#cuts = 0;
    this.#strays.forget();
    const shiftBefore = this.#shiftBefore;
    this.#shiftBefore = shift;
    if (!this.#isReached) return this.#stay("idle", seen);
    const ageMs = nowMs - this.#baselineAtMs;
    const isJoining = ageMs >= BASELINE_JOIN_MS && hasFallen(shiftBefore, shift);
    // A baseline of few is soon made better: until then it may be off by more than what queues.
    const lifeMs = BASELINE_MS * Math.min(1, this.#baseline.count / this.#samplesMax);
    if (isJoining || (!hasRoom && ageMs >= lifeMs)) {
      const drain = {
        limitBefore: this.#limit,
        resumeLimit: this.#limit,
        isDeep: true,
        startRttsMs: undefined,
      };
      return this.#startDrain(drain, this.#limit * DRAIN_DEEP, nowMs, "drain");
    }
    if (hasRoom) return this.#tryMore(seen);
    this.#growth.pause();
    this.#growth.hold(nowMs, HOLD_QUEUE, meanMs);
    if (queue - 2 * error <= Math.max(0.5 * root, Math.min(2, 1 + error)))
      return this.#stay("steady", seen);
    this.#limit = Math.max(1, this.#limit - 1);
    this.#window.restartSettling(nowMs);
    this.#isReached = false;
    return { cause: "slower", rttMs: meanMs };
  }

  #tryMore(seen: Seen): Decided {
    const { nowMs } = seen;
    const room = this.#limitMax - this.#wholeLimit;
    if (nowMs - this.#probedAtMs > PROBE_ROUND_TRIPS * seen.meanMs)
      this.#endProbing(this.#wholeLimit);
    const isProbing = this.#probesLeft > 0 || this.#probesOut > 0;
    if (this.#growth.isHeld(nowMs) || room === 0 || isProbing) {
      return this.#stay("steady", seen);
    }
    this.#probeStep = Math.min(room, this.#growth.step(this.#limit, nowMs));
    this.#probesLeft = this.#probeStep;
    this.#probedAtMs = nowMs;
    return this.#stay("probe", seen);
  }

  #judgeDrain(drain: Drain, { nowMs, meanMs, shift, queue, error }: Seen): Decided | undefined {
    const isSure = shift.errorMs <= DRAIN_ERROR * meanMs;
    const countMin = Math.min(SAMPLES_MAX, Math.max(DRAIN_MIN, drain.resumeLimit));
    if (this.#window.count < countMin && !isSure && !this.#window.isFull(nowMs, this.#samplesMax))
      return undefined;
    const { rttsMs } = this.#window;
    const isFar = Math.abs(shift.valueMs) > FAR * meanMs;
    const isOther = Math.abs(queue) > (isFar ? OTHER_FAR : OTHER) * error;
    // The queue is gone and the round trips are as long: it is the peer that has become slower.
    const isSlower = this.#baseline.isExceededBy(rttsMs, SLOWER);
    // A third of what ended the start may still be too many for a small peer.
    if (drain.startRttsMs !== undefined && isSlower && this.#limit >= 2)
      return this.#startDrain(drain, this.#limit * START_DRAIN, nowMs, "drain");
    const isInVain = !drain.isDeep && isSlower;
    if (isInVain) this.#growth.release();
    if (drain.startRttsMs !== undefined || (drain.isDeep && isOther) || isInVain)
      this.#baseline.replace(rttsMs);
    else this.#baseline.absorb(rttsMs, this.#samplesMax);
    this.#baselineAtMs = nowMs;
    this.#drain = undefined;
    this.#phase = "cruise";
    if (drain.startRttsMs === undefined)
      this.#limit = isInVain
        ? Math.max(drain.resumeLimit, SLOWER_RESUME * drain.limitBefore)
        : drain.resumeLimit;
    else this.#resumeStart(drain.startRttsMs, drain.resumeLimit);
    this.#growth.hold(nowMs, HOLD_DRAIN, meanMs);
    this.#restartWindow(nowMs);
    this.#window.restartSettling(nowMs);
    return { cause: "drain", rttMs: meanMs };
  }

  /**
   * Judges again what ended the start. While a limit grows, the slow attempts have not ended yet,
   * and a baseline made of the fast ones sees a queue where there is none.
   */
  #resumeStart(rttsMs: readonly number[], limit: number): void {
    const shift = this.#baseline.shiftOf(rttsMs) ?? { valueMs: 0, errorMs: 0 };
    const meanMs = rttsMs.reduce((sum, rttMs) => sum + rttMs, 0) / rttsMs.length;
    const perMs = meanMs === 0 ? 0 : limit / meanMs;
    const queue = perMs * shift.valueMs;
    const error = perMs * shift.errorMs;
    if (queue - 2 * error <= startQueue(limit)) {
      this.#phase = "start";
      this.#limit = limit;
      return;
    }
    this.#limit = Math.max(this.#limit, limit - Math.max(0, queue - error));
  }

  #startDrain(drain: Drain, limit: number, nowMs: number, cause: LimitCause): Decided {
    this.#limit = Math.max(1, limit);
    // A drain is our own doing: what was served before it still is.
    this.#cut(nowMs, Math.floor(drain.resumeLimit));
    this.#drain = drain;
    this.#phase = "drain";
    return { cause, rttMs: undefined };
  }

  /** Everything under way is over: what started until now no longer counts. */
  #cut(nowMs: number, known: number = this.#wholeLimit): void {
    this.#phase = "cruise";
    this.#drain = undefined;
    this.#shiftBefore = undefined;
    this.#isCutExplained = false;
    this.#cutAtMs = nowMs;
    this.#strays.onCut();
    this.#endProbing(known);
    this.#mostBelow = undefined;
    this.#isReached = false;
    this.#window.restartSettling(nowMs);
  }

  #stay(cause: LimitCause, { nowMs, meanMs }: Seen): Decided {
    this.#restartWindow(nowMs);
    return { cause, rttMs: meanMs };
  }

  #restartWindow(nowMs: number): void {
    this.#window.restart(nowMs);
    this.#isReached = false;
  }
}

/** Limits beyond this would only cost memory. */
const LIMIT_MAX = 1_000_000;

interface Decided {
  readonly cause: LimitCause;
  readonly rttMs: number | undefined;
}

/** What a window says: those that wait, give or take one standard error. */
interface Seen {
  readonly nowMs: number;
  readonly meanMs: number;
  readonly shift: Measured;
  readonly queue: number;
  readonly error: number;
}

function startQueue(limit: number): number {
  return Math.max(1, 0.5 * Math.sqrt(limit));
}

function hasFallen(before: Measured | undefined, now: Measured): boolean {
  if (before === undefined) return false;
  return before.valueMs - now.valueMs > FALL * Math.hypot(before.errorMs, now.errorMs);
}
