/** A cut leaves this much of what was accepted. */
const MARGIN = 0.9;

/** The most that one cut takes before that. */
const CUT_MAX = 0.5;

/** The least and the most by which a pace grows around where it was last cut, and beyond. */
const STEP_MIN = 0.01;
const STEP_NEAR_MAX = 0.1;
const STEP_FAR = 0.4;
/** Quotas are mostly counted by the second: what a step did is known after one. */
const STEP_MS = 1000;
/** From this part of what it was cut from on, it is back there. */
const BACK = 0.95;
/** Further from the last cut than this part of it counts as far. */
const FAR = 0.3;

/** Growth waits until what the last cut cost is at most this part of what was started since. */
const COST_SHARE = 0.05;
const COST_WAIT_MAX_MS = 30_000;

/** A pace that held nobody back for so long is not needed. */
const UNUSED_MS = 2000;
/** The longest pause. */
const PAUSE_MAX_MS = 2000;
/** Starts that were late may be made up for, up to this time. */
const CATCH_UP_MS = 20;

/**
 * Spreads starts evenly when what a peer limits is their rate. Off until it is first cut, and off
 * again when nothing needs it.
 *
 * It shrinks by a part and grows by one more in flight every twenty round trips, whatever it is:
 * so clients that share a quota come to share it evenly.
 */
export class StartPace {
  #perSecond: number | undefined;
  #nextAtMs = 0;
  #cutFrom = 0;
  #growAtMs = 0;
  #heldAtMs = 0;
  #losses = 0;

  /** Whether it is about where it was last cut again. */
  get isBackAtCut(): boolean {
    return this.#perSecond !== undefined && this.#perSecond > BACK * this.#cutFrom;
  }

  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  pauseMs(nowMs: number): number {
    const pauseMs = Math.max(0, this.#nextAtMs - nowMs);
    if (pauseMs > 0) this.#heldAtMs = nowMs;
    return pauseMs;
  }

  onStart(nowMs: number): void {
    if (this.#perSecond === undefined) return;
    const nextAtMs = Math.max(this.#nextAtMs, nowMs - CATCH_UP_MS) + 1000 / this.#perSecond;
    // Whoever starts without asking must not close the way for those who ask.
    this.#nextAtMs = Math.min(nextAtMs, nowMs + PAUSE_MAX_MS);
  }

  /** The peer pushed back: goes below what it accepted, and lets nothing start for `restMs`. */
  cut(nowMs: number, acceptedPerSecond: number, restMs: number): void {
    const paced = this.#perSecond ?? acceptedPerSecond;
    // What was accepted may be low because nothing was sent: a pause, or little to do.
    this.#cutFrom = Math.max(1, CUT_MAX * paced, Math.min(paced, acceptedPerSecond));
    this.#perSecond = Math.max(1, MARGIN * this.#cutFrom);
    this.#losses = 0;
    this.rest(nowMs, restMs);
  }

  /** Lets nothing start for `restMs`. */
  rest(nowMs: number, restMs: number): void {
    this.#nextAtMs = nowMs + restMs;
    this.#heldAtMs = nowMs;
    this.#growAtMs = nowMs + restMs + STEP_MS;
  }

  /** Lets it not grow before an instant. */
  holdGrowth(untilMs: number): void {
    this.#growAtMs = Math.max(this.#growAtMs, untilMs);
  }

  /** Paces no more. */
  end(): void {
    this.#perSecond = undefined;
    this.#nextAtMs = 0;
  }

  /** Forgets what was lost while the peer was away: it says nothing of a pace. */
  forgive(): void {
    this.#losses = 0;
  }

  onLoss(): void {
    this.#losses++;
  }

  /** An attempt was served: grows when it is time, and ends when nobody was held back. */
  onServed(nowMs: number, rttMs: number): void {
    if (this.#perSecond === undefined) return;
    const costMs = Math.min(
      COST_WAIT_MAX_MS,
      (this.#losses * 1000) / (COST_SHARE * this.#perSecond),
    );
    if (nowMs < this.#growAtMs + costMs) return;
    if (nowMs - this.#heldAtMs > UNUSED_MS) {
      this.#perSecond = undefined;
      return;
    }
    this.#perSecond *= 1 + stepOf(this.#perSecond, this.#cutFrom, rttMs);
    this.#growAtMs = nowMs + STEP_MS;
    this.#losses = 0;
  }
}

function stepOf(perSecond: number, cutFrom: number, rttMs: number): number {
  if (Math.abs(perSecond - cutFrom) > FAR * cutFrom) return STEP_FAR;
  const oneMoreInFlight = 1000 / rttMs;
  const stepsPerSecond = 1000 / (20 * rttMs);
  return Math.min(
    STEP_NEAR_MAX,
    Math.max(STEP_MIN, (oneMoreInFlight * stepsPerSecond) / perSecond),
  );
}
