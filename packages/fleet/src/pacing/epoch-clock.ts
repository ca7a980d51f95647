import { EPOCH_MS } from "./pacing.ts";

/** The store's time may run apart from ours by this before epochs are moved. */
const DRIFT_MAX_MS = 100;

/**
 * Where the epochs of a pool begin, by this process's own clock. Members learn it from the store, so
 * that theirs begin together and tokens that rotate go to one of them.
 *
 * Only where they begin is the store's: they are counted by this process's clock. A store whose time
 * jumps, by an hour or by the years since 1970, moves the next epoch by a second at most, and no ramp.
 */
export class EpochClock {
  #offsetMs: number | undefined;
  #phaseMs = 0;
  #turnOffset = 0;

  /** The pool's time, counted from this process's own beginning. */
  at(nowMs: number): number {
    return nowMs + this.#phaseMs;
  }

  /** This process's time at that of the pool. */
  from(atMs: number): number {
    return atMs - this.#phaseMs;
  }

  /** Epochs from this process's count to the one that all members share. */
  get turnOffset(): number {
    return this.#turnOffset;
  }

  /** The store told its time in answer to a sync. Half the way is what it can be wrong by. */
  learn(storeMs: number, sentAtMs: number, nowMs: number): void {
    const offsetMs = storeMs - (sentAtMs + nowMs) / 2;
    const doubtMs = (nowMs - sentAtMs) / 2;
    const known = this.#offsetMs;
    if (known !== undefined && Math.abs(offsetMs - known) <= DRIFT_MAX_MS + doubtMs) return;
    this.#offsetMs = offsetMs;
    let turnOffset = Math.round((offsetMs - this.#phaseMs) / EPOCH_MS);
    const phaseMs = offsetMs - turnOffset * EPOCH_MS;
    // Many steps one way never add up to an epoch too many.
    if (Math.abs(phaseMs) > EPOCH_MS) turnOffset += Math.sign(phaseMs);
    this.#turnOffset = turnOffset;
    this.#phaseMs = offsetMs - turnOffset * EPOCH_MS;
  }
}
