const REST_MIN_MS = 250;
/** A peer that was busy for long is left alone for longer, by up to so much: half of it after so long. */
const REST_MORE_MS = 2500;
const REST_HALF_MS = 200_000;

/** What climbing may cost: this share of what is sent, or so many busy answers a second. */
const COST_SHARE = 0.005;
const COST_PER_SECOND = 0.2;
/** Busy answers to requests sent up to this long after a climb are its cost. */
const AFTERMATH_MS = 1000;

/** A rest for the cost is this long at most; twice as long after each costly climb, up to the last. */
const COST_REST_MS = 4000;
const COST_REST_MAX_MS = 30_000;

/** How long a peer is left alone that was busy for so long: always longer, yet never three seconds. */
export function restMs(busyForMs: number): number {
  return REST_MIN_MS + (REST_MORE_MS * busyForMs) / (busyForMs + REST_HALF_MS);
}

/**
 * How long a peer is left alone before more is tried: the longer it has been busy and the more
 * busy answers the last climb cost, the longer; yet never longer than half a minute.
 */
export class Rest {
  #busySinceMs = 0;
  #busyUntilMs = 0;
  #isClimbing = false;
  #climbFromMs = 0;
  #climbUntilMs = 0;
  #spent = 0;
  #costlyClimbs = 0;

  /** The peer was found busy after a time when it was not. */
  onOverload(nowMs: number): void {
    this.#busySinceMs = nowMs;
    this.#busyUntilMs = nowMs;
    this.#climbFromMs = nowMs;
    this.#climbUntilMs = nowMs;
    this.#isClimbing = false;
    this.#spent = 0;
    this.#costlyClimbs = 0;
  }

  /** More is being tried, from this rate on; `hasGained`: the climb before was worth its cost. */
  onClimb(nowMs: number, rate: number, hasGained: boolean): void {
    const isCostly = this.#costMs(rate) > COST_REST_MS;
    this.#costlyClimbs = isCostly && !hasGained ? this.#costlyClimbs + 1 : 0;
    this.#isClimbing = true;
    this.#climbFromMs = nowMs;
    this.#spent = 0;
  }

  onClimbEnd(nowMs: number): void {
    if (this.#isClimbing) this.#climbUntilMs = nowMs + AFTERMATH_MS;
    this.#isClimbing = false;
  }

  /** An answer to a request sent at that instant, of which so large a share is busy anyway. */
  onAnswer(sentAtMs: number, isBusy: boolean, strayShare: number): void {
    if (isBusy) this.#busyUntilMs = Math.max(this.#busyUntilMs, sentAtMs);
    if (sentAtMs < this.#climbFromMs) return;
    if (!this.#isClimbing && sentAtMs >= this.#climbUntilMs) return;
    this.#spent = Math.max(0, this.#spent + (isBusy ? 1 : 0) - strayShare);
  }

  /** From the first accepted answer after the last try to the next. */
  lengthMs(): number {
    return restMs(this.#busyUntilMs - this.#busySinceMs);
  }

  /** The same before a climb beyond what is known to be good, at this rate. */
  lengthBeforeClimbMs(rate: number): number {
    const costMaxMs = Math.min(COST_REST_MAX_MS, COST_REST_MS * 2 ** this.#costlyClimbs);
    return this.lengthMs() + Math.min(costMaxMs, this.#costMs(rate));
  }

  /** How long sending at this rate takes to make up for what was spent. */
  #costMs(rate: number): number {
    return (this.#spent * 1000) / Math.max(COST_SHARE * rate, COST_PER_SECOND);
  }
}
