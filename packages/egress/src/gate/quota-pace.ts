import { AcceptedRate } from "./accepted-rate.ts";

/** A word leaves this much of what was accepted; less if the pace has not even grown since the last. */
const MARGIN = 0.95;
const MARGIN_AGAIN = 0.88;
/** The most that one word takes before that. */
const CUT_MAX = 0.5;

/** What a step did is known after this. */
const STEP_MS = 1000;
/** Growth while the quota is only guessed. */
const STEP_GUESS = 0.4;
/** Growth once it is known: by one a second, but within these parts. */
const STEP_MIN = 0.01;
const STEP_MAX = 0.1;
/** Beyond this part of what was known to be too much, the quota has become another. */
const OUTGROWN = 1.3;

/** Growth after a pause waits for so many times its length: what it cost is then a tenth. */
const COST_TIMES = 10;
/** Again and again at the same rate: twice as long each time. */
const SAME = 0.15;
const COST_WAIT_MAX_MS = 60_000;

/** A pace that held nobody back for so long is not needed. */
const UNUSED_MS = 2000;
/** The longest time between two starts. */
const GAP_MAX_MS = 2000;
/** Starts that were late may be made up for, up to this time. */
const CATCH_UP_MS = 20;

/**
 * Stays just below a quota that a peer enforces by telling everybody to stay away for a while. Such
 * a word costs all that could have been sent in that time, however few were over; without this, every
 * pause would end in the burst that leads to the next.
 *
 * The first word tells little of the quota, so the pace after it grows fast. The next one comes at a
 * rate that is too much; from then on the pace stays just below, and tries a little more only after
 * what the pause has cost is a tenth, or less if it was in vain before.
 */
export class QuotaPace {
  readonly #accepted: AcceptedRate;
  #perSecond: number | undefined;
  /** What is known to be too much. */
  #tooMuch: number | undefined;
  #hasGrown = false;
  /** How long it stays before it grows, after a pause. */
  #waitMs = 0;
  #toldAtMs: number = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = 0;
  #nextAtMs = 0;
  #growAtMs = 0;
  #heldAtMs = 0;

  constructor(nowMs: number) {
    this.#accepted = new AcceptedRate(nowMs);
  }

  pauseMs(nowMs: number): number {
    const pauseMs = this.#nextAtMs - nowMs;
    if (!(pauseMs > 0)) return 0;
    this.#heldAtMs = nowMs;
    return pauseMs;
  }

  onStart(nowMs: number): void {
    if (this.#perSecond === undefined) return;
    const nextAtMs = Math.max(this.#nextAtMs, nowMs - CATCH_UP_MS) + 1000 / this.#perSecond;
    // Whoever starts without asking must not close the way for those who ask.
    this.#nextAtMs = Math.min(nextAtMs, nowMs + GAP_MAX_MS);
  }

  onServed(nowMs: number): void {
    this.#accepted.record(nowMs);
    if (this.#perSecond !== undefined && nowMs >= this.#growAtMs)
      this.#grow(this.#perSecond, nowMs);
  }

  /** The peer turned a call away that started then, and asked for a pause, which is on. */
  onTold(nowMs: number, pauseMs: number, startedAtMs: number): void {
    const untilMs = nowMs + pauseMs;
    const accepted = this.#accepted.perSecond(nowMs);
    this.#accepted.skip(Math.max(0, untilMs - Math.max(nowMs, this.#pausedUntilMs)));
    const isLaterWord = startedAtMs > this.#toldAtMs;
    this.#toldAtMs = nowMs;
    this.#pausedUntilMs = untilMs;
    this.#heldAtMs = untilMs;
    if (isLaterWord && accepted > 0) this.#cut(accepted, pauseMs);
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
