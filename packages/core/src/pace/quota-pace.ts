import { AcceptedRate } from "./accepted-rate.ts";

// The numbers were chosen in the workload of `egress/src/gate/quota.test.ts`: 50 callers, a quota of 200 calls a second
// with a burst of 20, `Retry-After: 1`. docs/decisions/0025-quota-pace.md has what half and double of each number does there.

/**
 * After a hint the pace restarts at this fraction of the accepted rate. Raised to 0.975, hints come a third more often, and
 * 0.90 instead of 0.95 of the quota is used; lowered to 0.9, 0.92.
 */
const MARGIN = 0.95;
/**
 * The same if the pace had not grown since the previous hint: then the accepted rate was too high. Raised to 0.94, a lowered quota
 * is found later: 0.61 instead of 0.78 of it is used in the 30 s after the change.
 */
const MARGIN_AGAIN = 0.88;
/**
 * The pace falls to no less than this fraction in one cut, before the margin: an accepted rate that was measured over a gap of the
 * callers is no measure of the quota. Halved or doubled, it changes hardly anything in the workload.
 */
const CUT_MAX = 0.5;

/**
 * The time between two steps of growth, in ms: a quota per second shows the effect of a step by then. Raised, the first seconds
 * and a raised quota are used less; lowered, hints come more often.
 */
const STEP_MS = 1000;
/**
 * The growth per step while no quota was found, a fraction of the pace. Raised or lowered by a factor of two, the first 5 s
 * have a tenth fewer calls: it overshoots, or takes longer to find the quota.
 */
const STEP_GUESS = 0.4;
/**
 * The least and the largest growth per step once a quota was found, fractions of the pace; between them, one call per second. The
 * least one decides above 100 calls a second: raised, a raised quota is used sooner (0.66 instead of 0.57 of it in 50 s),
 * and hints come a tenth more often. The largest one decides below 10 calls a second, where one more call is a large step.
 */
const STEP_MIN = 0.01;
const STEP_MAX = 0.1;
/**
 * A pace above this multiple of the rate that was too high shows that the quota was raised, and grows by `STEP_GUESS` again. Lowered,
 * a raised quota is used sooner; the pace may then also overshoot a quota whose measured rate was too low.
 */
const OUTGROWN = 1.3;

/**
 * Growth after a pause waits for this multiple of the pause, so that pauses cost at most a tenth of the time. Raised, fewer hints and a
 * raised quota is noticed later; lowered to 5, as many hints as now and 0.96 instead of 0.95 of the quota.
 */
const COST_TIMES = 10;
/**
 * Two rates that differ by at most this fraction are the same; growth then waits twice as long as before. Raised, growth
 * slows down also if the quota has moved.
 */
const SAME = 0.15;
/**
 * The longest wait before growth, in ms. Raised, a raised quota is noticed later, after a long time at the same quota: the workload
 * is too short to show it.
 */
const COST_WAIT_MAX_MS = 60_000;

/**
 * A pace that held no call for this time is dropped, in ms. Raised, a burst after a quiet time is paced by an old quota; lowered, a
 * quota is forgotten between the calls of a slow caller.
 */
const UNUSED_MS = 2000;
/** The longest time between two starts, in ms: the pace alone never stops a gate. Raised, quotas below one call in 2 s are obeyed. */
const GAP_MAX_MS = 2000;
/** How late a start may be and still be made up for, in ms. Raised, bursts after a late timer are larger. */
const CATCH_UP_MS = 20;

/**
 * Stays just below a quota that a peer enforces by asking all callers to pause. Such a pause stops all
 * calls for its length, however few calls exceeded the quota. Without a pace each pause would end in the
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
