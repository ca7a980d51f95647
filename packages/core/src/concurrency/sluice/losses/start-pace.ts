import { Pacer } from "../../../pace/pacer.ts";
import {
  PACE_BACK,
  PACE_CATCH_UP_MS,
  PACE_CUT_MAX,
  PACE_FAR,
  PACE_LOSSES,
  PACE_LOSSES_WAIT_MAX_MS,
  PACE_MARGIN,
  PACE_PAUSE_MAX_MS,
  PACE_STEP_FAR,
  PACE_STEP_MAX,
  PACE_STEP_MIN,
  PACE_STEP_MS,
  PACE_STEP_ROUND_TRIPS,
  PACE_UNUSED_MS,
} from "../constants.ts";

/**
 * When starts are paced, and how fast: for a peer that limits a rate. Off until the first cut, and off
 * again once it blocks nothing.
 *
 * A cut takes a fraction of the rate, and growth adds one more in flight every twenty round trips,
 * whatever the rate. Multiplicative decrease and additive increase make clients that share a quota
 * equal.
 */
export class StartPace {
  readonly #pacer = new Pacer({ catchUpMs: PACE_CATCH_UP_MS, pauseMaxMs: PACE_PAUSE_MAX_MS });
  #cutFrom = 0;
  #growAtMs = 0;
  #blockedAtMs = 0;
  #losses = 0;
  /** The pace before it was lowered for a time; undefined if it is not. */
  #lowered: { readonly before: number | undefined } | undefined;

  /** Starts a second; undefined while starts are not paced. */
  get perSecond(): number | undefined {
    return this.#pacer.perSecond;
  }

  /** Whether the pace is back where it was last cut. */
  get isBackAtCut(): boolean {
    return this.perSecond !== undefined && this.perSecond > PACE_BACK * this.#cutFrom;
  }

  pauseMs(nowMs: number): number {
    return this.#pacer.pauseMs(nowMs);
  }

  onStart(nowMs: number): void {
    this.#pacer.onStart(nowMs);
  }

  /** An attempt could not start because of the pause. */
  onBlocked(nowMs: number): void {
    this.#blockedAtMs = nowMs;
  }

  /** The peer pushed back: the pace goes below the accepted rate, and nothing starts for `coolDownMs`. */
  cut(nowMs: number, acceptedPerSecond: number, coolDownMs: number): void {
    // What a trial or an outage has lowered says nothing about the peer.
    const lowered = this.#lowered;
    const paced = (lowered === undefined ? this.perSecond : lowered.before) ?? acceptedPerSecond;
    this.#cutFrom = Math.max(1, PACE_CUT_MAX * paced, Math.min(paced, acceptedPerSecond));
    this.#setRate(Math.max(1, PACE_MARGIN * this.#cutFrom), nowMs);
    this.#losses = 0;
    this.#lowered = undefined;
    this.coolDown(nowMs, coolDownMs);
  }

  /** Halves the rate for a trial; growth waits for its end. */
  halve(nowMs: number, acceptedPerSecond: number): void {
    const paced = this.perSecond ?? acceptedPerSecond;
    this.#cutFrom = Math.max(1, paced);
    this.#lower(nowMs, Math.max(1, PACE_CUT_MAX * paced));
  }

  /** Only probes start, `perSecond` of them, until `resume`. */
  probe(nowMs: number, perSecond: number): void {
    this.#lower(nowMs, perSecond);
  }

  /** Ends `halve` or `probe`: the pace is what it was. */
  resume(nowMs: number): void {
    if (this.#lowered === undefined) return;
    const { before } = this.#lowered;
    this.#lowered = undefined;
    this.#setRate(before, nowMs);
    this.#losses = 0;
    this.#growAtMs = nowMs + PACE_STEP_MS;
  }

  #lower(nowMs: number, perSecond: number): void {
    this.#lowered ??= { before: this.perSecond };
    this.#setRate(perSecond, nowMs);
    this.#blockedAtMs = nowMs;
  }

  /** Nothing starts for `coolDownMs`. */
  coolDown(nowMs: number, coolDownMs: number): void {
    this.#pacer.holdUntil(nowMs + coolDownMs);
    this.#blockedAtMs = nowMs;
    this.#growAtMs = nowMs + coolDownMs + PACE_STEP_MS;
  }

  /** Starts are no longer paced. */
  end(nowMs: number): void {
    this.#lowered = undefined;
    this.#setRate(undefined, nowMs);
  }

  /** Losses of an outage say nothing about a pace. */
  forgetLosses(): void {
    this.#losses = 0;
  }

  onLoss(): void {
    this.#losses++;
  }

  /** An attempt was served: the pace grows when it is time, or ends if it has blocked nothing. */
  onServed(nowMs: number, rttMs: number): void {
    const { perSecond } = this;
    if (perSecond === undefined || this.#lowered !== undefined) return;
    const lossesMs = (this.#losses * 1000) / (PACE_LOSSES * perSecond);
    if (nowMs < this.#growAtMs + Math.min(PACE_LOSSES_WAIT_MAX_MS, lossesMs)) return;
    if (nowMs - this.#blockedAtMs > PACE_UNUSED_MS) {
      this.end(nowMs);
      return;
    }
    this.#setRate(perSecond * (1 + stepOf(perSecond, this.#cutFrom, rttMs)), nowMs);
    this.#growAtMs = nowMs + PACE_STEP_MS;
    this.#losses = 0;
  }

  /** A change from a fast rate to a slow one stretches the pause that is left, which is bounded. */
  #setRate(perSecond: number | undefined, nowMs: number): void {
    this.#pacer.setRate(perSecond, nowMs);
    const latestMs = nowMs + PACE_PAUSE_MAX_MS;
    if (this.#pacer.pauseMs(nowMs) > PACE_PAUSE_MAX_MS) this.#pacer.holdUntil(latestMs);
  }
}

/**
 * Relative growth in a step of a second. One more in flight is `1000 ÷ rttMs` starts a second more, and
 * twenty round trips pass `1000 ÷ (20 × rttMs)` times a second.
 */
function stepOf(perSecond: number, cutFrom: number, rttMs: number): number {
  if (Math.abs(perSecond - cutFrom) > PACE_FAR * cutFrom) return PACE_STEP_FAR;
  const oneMoreInFlight = 1000 / rttMs;
  const stepsPerSecond = 1000 / (PACE_STEP_ROUND_TRIPS * rttMs);
  const step = (oneMoreInFlight * stepsPerSecond) / perSecond;
  return Math.min(PACE_STEP_MAX, Math.max(PACE_STEP_MIN, step));
}
