import type { Reason } from "@sluice/core";
import type { Entitlement } from "../member/membership.ts";
import type { LeaveReason } from "../store/pool-store.ts";
import type { MembershipState } from "./state.ts";

/** A queue of calls that wait for tokens; a gate's or a limiter's. */
export interface TokenQueue {
  /** More tokens may be there than was known. Must not throw. */
  wake(): void;
  /** Whether at least one call waits because tokens are missing. */
  isWaiting(): boolean;
}

/** Told what calls want; see `DemandMeter`. */
export interface DemandSink {
  /** Tokens of a call, once: on its arrival, or for a partial ask when it got them. */
  onRequested(count: number): void;
  /** A partial ask got less than it could use, and how much it would have used is not known. */
  onShort(): void;
  /** Tokens came back: they were not needed, and so neither were more. */
  onDeposited(count: number): void;
}

/** Where a limiter learns how much of the ceiling it may use: a pool member, or a fixed part. */
export interface ShareSource {
  /** Asked for every grant, also after a wait. Undefined: nothing may be used. */
  entitlementAt(nowMs: number): Entitlement | undefined;
  /** Whether the entitlement is held under a lease, rather than by a policy such as the safe share. */
  isLeasedAt(nowMs: number): boolean;
  /** Whether the whole share was there at least once. Undefined: it always is. */
  readonly isReady?: boolean;
  /** Why tokens are missing, if they are. */
  readonly reason: Reason;
  /** Undefined where the share does not depend on demand. */
  readonly demand?: DemandSink;
  /** Called once, with the queue that must be woken whenever the entitlement may have changed. */
  subscribe?(queue: TokenQueue): void;
  /** Undefined where there is no store. */
  stateAt?(nowMs: number): MembershipState;
  leave(reason: LeaveReason): Promise<void>;
}
