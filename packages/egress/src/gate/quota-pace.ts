import { RecentRate, StartPace } from "@sluice/core";

/** Growth after a pause waits for so many times its length: what it cost is then a tenth. */
const COST_TIMES = 10;
const COST_WAIT_MAX_MS = 60_000;

/**
 * Stays just below a quota that a peer enforces by telling everybody to stay away for a while. Such
 * a word costs all that could have been sent in that time, however few were over; without this, every
 * pause would end in the burst that leads to the next. Made for the first such word; paces from the
 * second on, when it knows what was accepted between them.
 */
export class QuotaPace {
  readonly #pace = new StartPace();
  readonly #accepted: RecentRate;
  #hasAccepted = false;

  constructor(nowMs: number) {
    this.#accepted = new RecentRate(nowMs);
  }

  pauseMs(nowMs: number): number {
    return this.#pace.pauseMs(nowMs);
  }

  onStart(nowMs: number): void {
    this.#pace.onStart(nowMs);
  }

  onServed(nowMs: number, rttMs: number): void {
    this.#hasAccepted = true;
    this.#accepted.record(nowMs, rttMs);
    this.#pace.onServed(nowMs, rttMs);
  }

  /** The peer turned a call away and asked for a pause. */
  onTold(nowMs: number, pauseMs: number): void {
    if (!this.#hasAccepted) return;
    const wasPaced = this.#pace.perSecond !== undefined;
    this.#pace.cut(nowMs, this.#accepted.peak, 0);
    // The first pace is a guess from one burst, and often far too low.
    if (!wasPaced) return;
    const waitMs = Math.min(COST_WAIT_MAX_MS, COST_TIMES * pauseMs);
    this.#pace.holdGrowth(nowMs + pauseMs + waitMs);
  }
}
