import type { Reason } from "@sluice/core";
import type { RampStep } from "@sluice/core/internal";

/**
 * What a limiter has done since it was made. The tokens of each call count once as requested and once as
 * granted or refused: `requested = granted + refused + state().waitingTokens` at any time.
 */
export interface FleetCounts {
  /** Tokens asked for. A call through a gate counts when the gate admits or refuses it. */
  readonly requested: number;
  readonly granted: number;
  /** Tokens asked for, not granted and no longer waited for, also because the caller gave up. */
  readonly refused: number;
  /** The same by what was missing. */
  readonly refusedBy: Readonly<Partial<Record<Reason, number>>>;
  /** Calls that waited in the limiter's own queue. */
  readonly waits: number;
  /** How long those calls waited, all together. */
  readonly waitedMs: number;
  /** Tokens that were deposited because they were not used. */
  readonly deposited: number;
  /** Tokens that were deposited because their messages were dropped. */
  readonly refunded: number;
  /** Tokens granted without a lease, by the policy for a lost store or a newcomer. */
  readonly grantedUnleased: number;
  /** Syncs that the store answered. */
  readonly syncs: number;
  /** Syncs that failed, took too long or were answered with nonsense. */
  readonly syncFailures: number;
  /** What the ramp did on entering an epoch. */
  readonly steps: Readonly<Record<RampStep, number>>;
}

type Records = "steps" | "refusedBy";

export type Tally = { -readonly [Name in Exclude<keyof FleetCounts, Records>]: number } & {
  readonly steps: Record<RampStep, number>;
  readonly refusedBy: Partial<Record<Reason, number>>;
};

export function newTally(): Tally {
  return {
    requested: 0,
    granted: 0,
    refused: 0,
    // Both are shown from the start, so that a dashboard sees the first refusal as a step from 0.
    refusedBy: { "fleet-share": 0, "store-lost": 0 },
    waits: 0,
    waitedMs: 0,
    deposited: 0,
    refunded: 0,
    grantedUnleased: 0,
    syncs: 0,
    syncFailures: 0,
    steps: { start: 0, up: 0, hold: 0, down: 0, gap: 0 },
  };
}
