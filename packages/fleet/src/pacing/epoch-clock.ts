import { EPOCH_MS } from "./pacing.ts";

/**
 * How far the store's time may drift from the known offset before epochs are moved, ms. Raised, members
 * enter epochs further apart; lowered, network jitter moves epochs. A tenth of an epoch.
 */
const DRIFT_MAX_MS = 100;

/**
 * Where the epochs of a pool begin, on this process's own clock. Members learn it from the store, so
 * that their epochs begin together and a token that rotates goes to one member only.
 *
 * Epochs begin by the store's time and are counted by this process's clock. A store whose time jumps,
 * by an hour or by the years since 1970, moves the next epoch by at most a second, and no ramp.
 */
export class EpochClock {
  #offsetMs: number | undefined;
  #phaseMs = 0;
  #turnOffset = 0;

  /** Epoch time at an instant of the process's clock: `nowMs + phase`. */
  at(nowMs: number): number {
    return nowMs + this.#phaseMs;
  }

  /** The instant of the process's clock at an epoch time: the inverse of `at`. */
  from(atMs: number): number {
    return atMs - this.#phaseMs;
  }

  /** What to add to this process's epoch number to get the one that all members share. */
  get turnOffset(): number {
    return this.#turnOffset;
  }

  /** A sync told the store's time. It is wrong by at most half the round trip. */
  learn(storeMs: number, sentAtMs: number, nowMs: number): void {
    const offsetMs = storeMs - (sentAtMs + nowMs) / 2;
    const doubtMs = (nowMs - sentAtMs) / 2;
    const known = this.#offsetMs;
    if (known !== undefined && Math.abs(offsetMs - known) <= DRIFT_MAX_MS + doubtMs) return;
    this.#offsetMs = offsetMs;
    let turnOffset = Math.round((offsetMs - this.#phaseMs) / EPOCH_MS);
    const phaseMs = offsetMs - turnOffset * EPOCH_MS;
    // Bounds the phase: many steps in one direction never add up to more than an epoch.
    if (Math.abs(phaseMs) > EPOCH_MS) turnOffset += Math.sign(phaseMs);
    this.#turnOffset = turnOffset;
    this.#phaseMs = offsetMs - turnOffset * EPOCH_MS;
  }
}
