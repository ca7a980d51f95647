import type { RampStep } from "@sluice/core/internal";

/** What a limiter has done since it was made. */
export interface FleetCounts {
  /** Tokens asked for; granted of them; refused: asked for, not granted, and no longer waited for. */
  readonly requested: number;
  readonly granted: number;
  readonly refused: number;
  /** Those of the refused that were refused while the store was lost. */
  readonly refusedStoreLost: number;
  /** Calls that waited, and for how long in all. */
  readonly waits: number;
  readonly waitedMs: number;
  /** Tokens that came back unused, and those whose messages were dropped. */
  readonly deposited: number;
  readonly refunded: number;
  /** Tokens granted without a lease, by the policy for a lost store or a newcomer. */
  readonly grantedUnleased: number;
  readonly syncs: number;
  readonly syncFailures: number;
  readonly agreements: number;
  readonly disagreements: number;
  /** What the ramp did on entering an epoch. */
  readonly steps: Readonly<Record<RampStep, number>>;
}

export type Tally = { -readonly [Name in Exclude<keyof FleetCounts, "steps">]: number } & {
  readonly steps: Record<RampStep, number>;
};

export function newTally(): Tally {
  return {
    requested: 0,
    granted: 0,
    refused: 0,
    refusedStoreLost: 0,
    waits: 0,
    waitedMs: 0,
    deposited: 0,
    refunded: 0,
    grantedUnleased: 0,
    syncs: 0,
    syncFailures: 0,
    agreements: 0,
    disagreements: 0,
    steps: { start: 0, up: 0, hold: 0, down: 0, gap: 0 },
  };
}
