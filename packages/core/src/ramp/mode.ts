import type { Level, RampBounds } from "./level.ts";

/** How the level moved on entering an epoch. `start`: the first call, the level has not moved yet. */
export type RampStep = "start" | "up" | "hold" | "down" | "gap";

/** How much of the ceiling was used in the last epoch that had a call. */
export interface Usage {
  /** Tokens used by the whole pool: granted and not given back. */
  readonly used: number;
  /** Tokens that could still have been granted. A remainder that is in no share does not count. */
  readonly unused: number;
}

export interface Entry {
  readonly level: Level;
  readonly bounds: RampBounds;
  /** Epochs from the last one with a call to this one; at least 1. */
  readonly epochsPassed: number;
  readonly usage: Usage;
}

export interface Move {
  readonly level: Level;
  readonly step: RampStep;
}

/** Decides how the level moves when the first call of an epoch comes. */
export type RampMode = (entry: Entry) => Move;

/**
 * used ÷ (used + unused) ≥ threshold, exact: 99.6 % does not reach 100. An empty share counts as
 * 100 % used, so that a small pool can still ramp up.
 */
export function reaches({ used, unused }: Usage, thresholdPercentage: number): boolean {
  return BigInt(used) * 100n >= BigInt(thresholdPercentage) * BigInt(used + unused);
}
