/** All parts of a ceiling. Shares by demand are told in such parts, so that they follow the ramp. */
export const PARTS = 1_000_000_000;

/** What a member asks of the store under `share: demand`; all in parts of the ceiling. */
export interface DemandReport {
  /** Its equal share, by the size that it uses. It lends what it does not want of this. */
  readonly entitled: number;
  /** What it uses now, which it was told before: no growth without a reply. */
  readonly held: number;
  readonly wanted: number;
}

/** Ages by which the store judges; every member of a pool has the same. */
export interface PoolTimes {
  /** A member that has not synced for longer is gone. */
  readonly staleMs: number;
  /** After the store was found empty nothing is agreed for so long: those who hold shares come back first. */
  readonly learningMs: number;
  /** A level is kept for so long after the last sync of anybody. */
  readonly resumeTtlMs: number;
}

/** One sync of one member. */
export interface SyncRequest {
  readonly pool: string;
  readonly member: string;
  /** Tells this process from any other with the same id. */
  readonly nonce: string;
  /** Counts the syncs of this incarnation from 1. One that arrives after a later one changes nothing. */
  readonly sequence: number;
  /** The size that it reports, never more than it uses; undefined at first: the store counts for it. */
  readonly size: number | undefined;
  /** Its ramp's ceiling; undefined before its first grant. */
  readonly level: number | undefined;
  /** The version of the pool's limits that it knows; 0 for those it was started with. */
  readonly limitsVersion: number;
  readonly demand: DemandReport | undefined;
  readonly times: PoolTimes;
}

/** A level that somebody left. `running`: others of the pool are at it now. */
export interface SavedLevel {
  readonly level: number;
  readonly left: "running" | "redeploy" | "pause" | "crash";
}

/** Limits that were set for the whole pool while it ran. */
export interface PoolLimits {
  readonly version: number;
  /** As it was written; the store does not read it. */
  readonly text: string;
}

/** What the store answers to a sync, all as of one instant. */
export type SyncReply =
  /** Another incarnation of this id has a place in the pool. */
  | { readonly kind: "refused" }
  | {
      readonly kind: "counted";
      /** `agree`: all who are live report the same size, and it is their number. */
      readonly verdict: "agree" | "disagree";
      /** The largest size that is reported. */
      readonly size: number;
      /** How many are live, the member included. */
      readonly live: number;
      /** The member's place among them, from 0, in the order of their ids. */
      readonly rank: number;
      /**
       * Stands for who is live, incarnations included: another one for any other set of them. That
       * their number is the same does not say that they are.
       */
      readonly roster: string;
      /** The store's time, for epochs that are the same for all. */
      readonly storeMs: number;
      /** The parts that the member may use, if it asked by demand. */
      readonly parts: number | undefined;
      /** What it found there; told until the member reports a size, and so has read a reply. */
      readonly saved: SavedLevel | undefined;
      /** Limits newer than those that it knows. */
      readonly limits: PoolLimits | undefined;
    };

/** Why a member goes. After a redeploy the level is taken up again; after a pause it is not. */
export type LeaveReason = "redeploy" | "pause";

export interface LeaveRequest {
  readonly pool: string;
  readonly member: string;
  readonly nonce: string;
  readonly level: number | undefined;
  readonly reason: LeaveReason;
  readonly resumeTtlMs: number;
}

/**
 * Where the members of pools meet. Every call is one atomic step on the store's own clock, and may
 * fail with a `StoreError`; a store may also forget anything at any time. Nothing is left of a
 * pool a while after its last member.
 */
export interface PoolStore {
  sync(request: SyncRequest): Promise<SyncReply>;
  /** Gives the place back at once. Does nothing if another incarnation has it. */
  leave(request: LeaveRequest): Promise<void>;
  /** Sets limits for the whole pool; members learn of it at their next sync. Answers the version. */
  setLimits(pool: string, text: string): Promise<number>;
  /** Ends connections that the store itself has opened. */
  close(): Promise<void>;
}
