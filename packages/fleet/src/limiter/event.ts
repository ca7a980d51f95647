import type { RampStep, Usage } from "@sluice/core/internal";
import type { MembershipChange } from "../member/membership.ts";
import type { SavedLevel } from "../store/pool-store.ts";

/** A decision of a fleet limiter, with its reason. */
export type FleetEvent =
  | (MembershipChange & { readonly atMs: number })
  /** The first call of an epoch moved the ceiling, or kept it. */
  | {
      readonly type: "step";
      readonly atMs: number;
      readonly step: RampStep;
      readonly ceiling: number;
      /** Of the last epoch with a call, by which the ramp decided. */
      readonly usage: Usage;
    }
  /** The store had a level that other members left. It is taken up unless they left for a pause. */
  | {
      readonly type: "resume";
      readonly atMs: number;
      readonly saved: SavedLevel;
      readonly isTaken: boolean;
    }
  /** New limits for the whole pool came; `refused` says what is wrong with them, if they were not taken. */
  | {
      readonly type: "limits";
      readonly atMs: number;
      readonly version: number;
      readonly refused: string | undefined;
    }
  | { readonly type: "sync-failed"; readonly atMs: number; readonly error: unknown }
  /** The store has answered after failed syncs; `afterMs` is the time since the first of them. */
  | {
      readonly type: "sync-back";
      readonly atMs: number;
      readonly failures: number;
      readonly afterMs: number;
    };
