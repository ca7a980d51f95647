import type { Level, RampBounds } from "./level.ts";

/** What the ramp did with the level on entering an epoch; `start`: the first call found it unmoved. */
export type RampStep = "start" | "up" | "hold" | "down" | "gap";

/** What happened in the last epoch that had a call. */
export interface Usage {
  /** Tokens used by the whole pool: granted and not given back. */
  readonly used: number;
  /** Tokens that could still have been handed out. What no share contains does not count. */
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

/** One rule for moving the level when the first call of an epoch comes. */
export type RampMode = (entry: Entry) => Move;

/** Exact: 99.6 % does not pass for 100. Where nothing could be used, all of it was. */
export function reaches({ used, unused }: Usage, thresholdPercentage: number): boolean {
  return BigInt(used) * 100n >= BigInt(thresholdPercentage) * BigInt(used + unused);
}
