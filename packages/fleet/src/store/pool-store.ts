import type { LedgerReply, RefusalCause } from "../ledger/ledger.ts";
import type { PoolRoster } from "../ledger/roster.ts";
import type { Timing } from "../ledger/timing.ts";
import type { About } from "./about.ts";

/** One sync of one member. Amounts in parts of the ceiling, see `PARTS`. */
export interface SyncRequest extends About {
  readonly pool: string;
  readonly member: string;
  /** Tells this process from any other with the same id. */
  readonly nonce: string;
  /** Counts the syncs of this process from 1. One that arrives after a later one changes nothing. */
  readonly sequence: number;
  /** Whether the member has not read any reply yet. */
  readonly isFirst: boolean;
  /** What the member uses now. */
  readonly held: number;
  /** Whether `held` is used without a lease, by the policy for a lost store. */
  readonly isHeldUnleased: boolean;
  /** What the member would use if it could. Undefined: not known yet, and taken for its equal share. */
  readonly wanted: number | undefined;
  /** What the first joiner of an empty store may use at once; 0 for nothing. */
  readonly safeShare: number;
  /** Whether the member may use `safeShare` at once, also in a pool that others divide. */
  readonly startsOnSafeShare: boolean;
  /** Whether the reply is to tell the member's rank. */
  readonly needsRank: boolean;
  /** Its ramp's ceiling; undefined before its first grant. */
  readonly level: number | undefined;
  /** The limits of the whole pool that the member knows; version 0 for those it was started with. */
  readonly limits: KnownLimits;
  /** The same for all members of a pool. */
  readonly timing: Timing;
  /** A level is kept for this long after the last sync of any member; 0: none is kept. */
  readonly resumeTtlMs: number;
}

/** Limits that were set for the whole pool while it ran. */
export interface PoolLimits {
  /** Higher for later ones, also after the store was emptied in between. */
  readonly version: number;
  /** As it was written; the store does not read it. "": every member's own limits, as it was started. */
  readonly text: string;
}

/** `text` is sent only to a store that has lost it. */
export interface KnownLimits {
  readonly version: number;
  readonly text: string | undefined;
}

/** A ramp level of the pool. `running`: other members are at it now; else how the last one left it. */
export interface SavedLevel {
  readonly level: number;
  readonly left: "running" | "redeploy" | "pause" | "crash";
}

export type Told = Extract<LedgerReply, { kind: "told" }> & {
  /** The member's place among the others, from 0, in the order of their ids; undefined while that changes. */
  readonly rank: number | undefined;
  /** The store's time, for epochs that begin at the same instant for all members. */
  readonly storeMs: number;
  /** Whether the store can tell its runs apart. If not, a failover to older data goes unnoticed. */
  readonly hasRunId: boolean;
  /** The level that a joiner finds; told until the member has read a reply. */
  readonly saved: SavedLevel | undefined;
  /** The version of the limits that the store knows; 0 for none. */
  readonly limitsVersion: number;
  /** Limits newer than those that the member knows. */
  readonly limits: PoolLimits | undefined;
};

/** What the store answers to a sync, all as of one instant. */
export type SyncReply =
  | { readonly kind: "refused"; readonly why: RefusalCause }
  | { readonly kind: "late" }
  | Told;

/** Why a member leaves. After a redeploy the next member resumes the level; after a pause it does not. */
export type LeaveReason = "redeploy" | "pause";

export interface LeaveRequest {
  readonly pool: string;
  readonly member: string;
  readonly nonce: string;
  readonly level: number | undefined;
  readonly reason: LeaveReason;
  readonly timing: Timing;
  readonly resumeTtlMs: number;
}

/**
 * Where the members of pools meet. Every call is one atomic step on the store's own clock, and may
 * fail with a `StoreError`; a store may also lose anything at any time. Nothing is left of a pool
 * some time after its last member.
 */
export interface PoolStore {
  sync(request: SyncRequest): Promise<SyncReply>;
  /** Gives the share back at once. Does nothing if another process has the id. */
  leave(request: LeaveRequest): Promise<void>;
  /** Sets limits for the whole pool; members learn of them at their next sync. Answers the version. */
  setLimits(pool: string, text: string): Promise<number>;
  /**
   * What the store knows of a pool, to be looked at; undefined if it knows none. Changes nothing. Costs as much as some
   * syncs in a large pool: for people, about once a second. A store may not have it.
   */
  roster?(pool: string): Promise<PoolRoster | undefined>;
  /** Ends connections that the store itself has opened. */
  close(): Promise<void>;
}
