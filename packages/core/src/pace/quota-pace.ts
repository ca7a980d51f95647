import { AcceptedRate } from "./accepted-rate.ts";

// `egress/src/gate/quota.test.ts` has the workload that these numbers were chosen with; how much each of them
// matters was not measured.

/** After a hint the pace restarts at this fraction of the accepted rate. */
const MARGIN = 0.95;
/** The same if the pace had not grown since the previous hint: then the accepted rate was too high. */
const MARGIN_AGAIN = 0.88;
/** The pace falls to no less than this fraction in one cut, before the margin. */
const CUT_MAX = 0.5;

/** The time between two steps of growth, in ms: a quota per second shows the effect of a step by then. */
const STEP_MS = 1000;
/** The growth per step while no quota was found: a fraction of the pace. */
const STEP_GUESS = 0.4;
/** The least and the largest growth per step once a quota was found; between them, one call per second. */
const STEP_MIN = 0.01;
const STEP_MAX = 0.1;
/** A pace above this multiple of the rate that was too high shows that the quota was raised. */
const OUTGROWN = 1.3;

/** Growth after a pause waits for this multiple of the pause, so that pauses cost at most a tenth. */
const COST_TIMES = 10;
/** Two rates that differ by at most this fraction are the same; growth then waits twice as long. */
const SAME = 0.15;
/** The longest wait before growth, in ms. Raised, a raised quota is noticed later. */
const COST_WAIT_MAX_MS = 60_000;

/** A pace that held no call for this time is dropped, in ms. */
const UNUSED_MS = 2000;
/** The longest time between two starts, in ms: the pace alone never stops a gate. */
const GAP_MAX_MS = 2000;
/** How late a start may be and still be made up for, in ms. Raised, bursts after a late timer are larger. */
const CATCH_UP_MS = 20;

/**
 * Stays just below a quota that a peer enforces by asking all callers to pause. Such a pause costs all
 * calls of its length, however few calls exceeded the quota. Without a pace each pause would end in the
 * burst that causes the next pause.
 *
 * The first hint says little about the quota, so the pace grows fast after it. The next hint comes at
 * a rate that is too high; from then on the pace stays just below that rate, and grows only after the
 * pause has cost at most a tenth.
 */
export class QuotaPace {
  readonly #accepted: AcceptedRate;
  #perSecond: number | undefined;
  /** A rate at which the peer asked for a pause. */
  #tooMuch: number | undefined;
  #hasGrown = false;
  /** The wait before growth, after a pause. */
  #waitMs = 0;
  #toldAtMs: number = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = 0;
  #nextAtMs = 0;
  #growAtMs = 0;
  #heldAtMs = 0;

  constructor(nowMs: number) {
    this.#accepted = new AcceptedRate(nowMs);
  }

  /** How long until the next start is due, in ms; 0 is now. */
  pauseMs(nowMs: number): number {
    const pauseMs = this.#nextAtMs - nowMs;
    if (!(pauseMs > 0)) return 0;
    this.#heldAtMs = nowMs;
    return pauseMs;
  }

  onStart(nowMs: number): void {
    if (this.#perSecond === undefined) return;
    const nextAtMs = Math.max(this.#nextAtMs, nowMs - CATCH_UP_MS) + 1000 / this.#perSecond;
    // Calls that start without asking, as in shadow mode, must not hold later calls for long.
    this.#nextAtMs = Math.min(nextAtMs, nowMs + GAP_MAX_MS);
  }

  onServed(nowMs: number): void {
    this.#accepted.record(nowMs);
    if (this.#perSecond !== undefined && nowMs >= this.#growAtMs)
      this.#grow(this.#perSecond, nowMs);
  }

  /** The peer refused a call that started at `startedAtMs`, and asked for a pause, which is on. */
  onHint(nowMs: number, pauseMs: number, startedAtMs: number): void {
    const untilMs = nowMs + pauseMs;
    const accepted = this.#accepted.perSecond(nowMs);
    this.#accepted.skip(Math.max(0, untilMs - Math.max(nowMs, this.#pausedUntilMs)));
    const isLaterHint = startedAtMs > this.#toldAtMs;
    this.#toldAtMs = nowMs;
    this.#pausedUntilMs = untilMs;
    this.#heldAtMs = untilMs;
    if (isLaterHint && accepted > 0) this.#cut(accepted, pauseMs);
    this.#growAtMs = untilMs + STEP_MS + this.#waitMs;
  }

  #cut(accepted: number, pauseMs: number): void {
    const paced = this.#perSecond;
    const tooMuch = Math.max(1, CUT_MAX * (paced ?? 0), Math.min(paced ?? accepted, accepted));
    const isAgain = paced !== undefined && !this.#hasGrown;
    this.#perSecond = Math.max(1, (isAgain ? MARGIN_AGAIN : MARGIN) * tooMuch);
    this.#hasGrown = false;
    if (paced === undefined) return;
    const isInVain = !isAgain && Math.abs(tooMuch - (this.#tooMuch ?? 0)) <= SAME * tooMuch;
    const waitMs = isInVain ? 2 * this.#waitMs : COST_TIMES * pauseMs;
    this.#waitMs = Math.min(COST_WAIT_MAX_MS, waitMs);
    this.#tooMuch = tooMuch;
  }

  #grow(perSecond: number, nowMs: number): void {
    if (nowMs - this.#heldAtMs > UNUSED_MS) {
      this.#perSecond = undefined;
      this.#tooMuch = undefined;
      this.#waitMs = 0;
      return;
    }
    if (this.#tooMuch !== undefined && perSecond > OUTGROWN * this.#tooMuch)
      this.#tooMuch = undefined;
    const step =
      this.#tooMuch === undefined
        ? STEP_GUESS
        : Math.min(STEP_MAX, Math.max(STEP_MIN, 1 / perSecond));
    this.#perSecond = perSecond * (1 + step);
    this.#growAtMs = nowMs + STEP_MS;
    this.#hasGrown = true;
  }
}
