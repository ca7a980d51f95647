import { requireDuration, requireNumber } from "../errors.ts";

/** The length of a pause below which it counts as none, in ms: what the rounding of instants leaves. */
const ROUNDING_MS = 1e-6;

export interface PacerOptions {
  /**
   * How late a start may be without being lost, in ms: the starts that a late timer missed are made
   * up for at once. Raised, bursts become larger: `1 + perSecond × catchUpMs ÷ 1000` starts.
   */
  readonly catchUpMs: number;
  /**
   * Starts that may come at once after a quiet time, however slow the rate: at rates below
   * `1000 ÷ catchUpMs` the catch-up is less than one start.
   *
   * @default 1
   */
  readonly burstMin?: number;
  /**
   * The longest pause that starts reported by `onStart` without asking can add up to, in ms.
   *
   * @default Infinity
   */
  readonly pauseMaxMs?: number;
}

/**
 * Spaces starts evenly, `1000 ÷ perSecond` ms apart, at a rate that need not be whole. Without a rate
 * nothing is spaced. `pauseMs` is a question: asked or not, later answers stay the same.
 *
 * @example
 * const pacer = new Pacer({ catchUpMs: 20 });
 * pacer.setRate(2.5, clock.now());
 * if (pacer.tryTake(clock.now())) send();
 * else setTimeout(retry, pacer.pauseMs(clock.now()));
 */
export class Pacer {
  readonly #catchUpMs: number = 0;
  readonly #burstMin: number = 1;
  readonly #pauseMaxMs: number = Infinity;
  #perSecond: number | undefined;
  /** The next start; up to `#creditMs` in the past while starts may be made up for. */
  #nextAtMs: number = -Number.MAX_VALUE;
  #heldUntilMs: number = -Number.MAX_VALUE;
  #hasSpare = false;

  constructor({ catchUpMs, burstMin = 1, pauseMaxMs = Infinity }: PacerOptions) {
    requireDuration("catchUpMs", catchUpMs);
    requireNumber("burstMin", burstMin, 1, Number.MAX_VALUE);
    requireNumber("pauseMaxMs", pauseMaxMs, 0, Infinity);
    this.#catchUpMs = catchUpMs;
    this.#burstMin = burstMin;
    this.#pauseMaxMs = pauseMaxMs;
  }

  /** Undefined: starts are not spaced. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /** Whether starts were lost since the rate was set, because they were later than the catch-up. */
  get hasSpare(): boolean {
    return this.#hasSpare;
  }

  /**
   * Sets the rate from `nowMs` on. Pacing begins with a whole gap. If a rate was set before, the
   * fraction of its gap that has passed counts, and so do starts to be made up for, as far as the new
   * rate allows them. Undefined ends pacing, and a hold with it.
   */
  setRate(perSecond: number | undefined, nowMs: number): void {
    this.#hasSpare = false;
    if (perSecond === undefined) {
      this.#perSecond = undefined;
      this.#nextAtMs = -Number.MAX_VALUE;
      this.#heldUntilMs = -Number.MAX_VALUE;
      return;
    }
    requireNumber("perSecond", perSecond, Number.MIN_VALUE, Number.MAX_VALUE);
    const before = this.#perSecond;
    this.#perSecond = perSecond;
    if (before === undefined) {
      this.#nextAtMs = Math.max(nowMs + 1000 / perSecond, this.#heldUntilMs);
      return;
    }
    // The time that is left of a hold is not a part of a gap.
    const fromMs = Math.max(nowMs, this.#heldUntilMs);
    const dueMs = Math.max(this.#nextAtMs - fromMs, -this.#creditMs(before));
    const dueGaps = (dueMs * before) / 1000;
    this.#nextAtMs = fromMs + Math.max((dueGaps * 1000) / perSecond, -this.#creditMs(perSecond));
  }

  /** How long until a start is due, in ms; 0 is now. */
  pauseMs(nowMs: number): number {
    const pauseMs = this.#nextAtMs - nowMs;
    return pauseMs <= ROUNDING_MS ? 0 : pauseMs;
  }

  /** Takes a start if one is due; whether it was. */
  tryTake(nowMs: number): boolean {
    if (this.pauseMs(nowMs) > 0) return false;
    this.onStart(nowMs);
    return true;
  }

  /** Counts a start, due or not. */
  onStart(nowMs: number): void {
    if (this.#perSecond === undefined) return;
    const earliestMs = nowMs - this.#creditMs(this.#perSecond);
    if (this.#nextAtMs < earliestMs) this.#hasSpare = true;
    const nextAtMs = Math.max(this.#nextAtMs, earliestMs) + 1000 / this.#perSecond;
    this.#nextAtMs = Math.min(nextAtMs, nowMs + this.#pauseMaxMs);
  }

  /** Lets nothing start before `untilMs`, with a rate or without; one start is due then. */
  holdUntil(untilMs: number): void {
    this.#heldUntilMs = untilMs;
    this.#nextAtMs = untilMs;
  }

  /** How far the next start may lie in the past: the starts that may be made up for, in ms. */
  #creditMs(perSecond: number): number {
    return Math.max(this.#catchUpMs, ((this.#burstMin - 1) * 1000) / perSecond);
  }
}
