import type { RampStep, Usage } from "@sluice/core/internal";
import type { MembershipChange } from "../membership/membership.ts";
import type { SavedLevel } from "../store/pool-store.ts";

/** Everything that a fleet limiter decides, with its reason, for whoever observes it. */
export type FleetEvent =
  | (MembershipChange & { readonly atMs: number })
  /** The first call of an epoch moved the ceiling, or not. */
  | {
      readonly type: "step";
      readonly atMs: number;
      readonly step: RampStep;
      readonly ceiling: number;
      /** Of the last epoch with a call, which it was judged by. */
      readonly usage: Usage;
    }
  /** A level that others left was taken up, or not: what was left before a pause is not. */
  | {
      readonly type: "resume";
      readonly atMs: number;
      readonly saved: SavedLevel;
      readonly isTaken: boolean;
    }
  /** Limits for the whole pool came, or some that cannot be right. */
  | {
      readonly type: "limits";
      readonly atMs: number;
      readonly version: number;
      readonly refused: string | undefined;
    }
  | { readonly type: "sync-failed"; readonly atMs: number; readonly error: unknown };
