import { PARTS } from "../ledger/parts.ts";

/** More than was asked for, so that a little more can be had at once. */
const HEADROOM = 1.25;
/** Who did not get all that was asked for may have asked for less than it would take. */
const HEADROOM_UNMET = 4;
/** Kept by who asks for nothing: what comes first must not wait for a sync. All of many keep little. */
const IDLE = PARTS / 1000;

/** What a member wants, in parts of the ceiling, by what it was asked for since the last sync. */
export class DemandMeter {
  #asked = 0;
  #isUnmet = false;
  #wasUnmet = false;
  #sinceMs = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  onAsk(asked: number, granted: number): void {
    this.#asked += asked;
    if (granted < asked) this.#isUnmet = true;
  }

  /** Looks, and starts anew. `isWaiting`: somebody still waits for tokens. */
  read(nowMs: number, ceiling: number, isWaiting: boolean): number {
    const elapsedMs = nowMs - this.#sinceMs;
    const perSecond = elapsedMs > 0 ? (this.#asked * 1000) / elapsedMs : 0;
    const isUnmet = this.#isUnmet || isWaiting;
    // Again, or since before the last sync: how much more it would have taken is not known.
    const isStarved = isUnmet && (this.#wasUnmet || this.#asked === 0);
    this.#wasUnmet = isUnmet;
    this.#asked = 0;
    this.#isUnmet = false;
    this.#sinceMs = nowMs;
    if (isStarved) return PARTS;
    if (ceiling === 0) return isUnmet ? PARTS : IDLE;
    const headroom = isUnmet ? HEADROOM_UNMET : HEADROOM;
    const parts = Math.ceil((headroom * perSecond * PARTS) / ceiling);
    return Math.min(PARTS, Math.max(IDLE, parts));
  }
}
