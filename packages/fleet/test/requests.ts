import { PARTS } from "../src/ledger/parts.ts";
import { DEFAULT_TIMING } from "../src/ledger/timing.ts";
import type { LeaveRequest, SyncRequest } from "../src/store/pool-store.ts";

/** The first sync of member `a`, which holds nothing and wants everything, with whatever else a test needs. */
export function syncRequest(more: Partial<SyncRequest> = {}): SyncRequest {
  return {
    pool: "shop/orders",
    member: "a",
    nonce: "n",
    sequence: 1,
    isFirst: true,
    held: 0,
    isHeldUnleased: false,
    wanted: PARTS,
    safeShare: 0,
    startsOnSafeShare: false,
    needsRank: false,
    level: undefined,
    limits: { version: 0, text: undefined },
    timing: DEFAULT_TIMING,
    resumeTtlMs: 0,
    ...more,
  };
}

/** Member `a` leaves for a pause. */
export function leaveRequest(more: Partial<LeaveRequest> = {}): LeaveRequest {
  return {
    pool: "shop/orders",
    member: "a",
    nonce: "n",
    level: undefined,
    reason: "pause",
    timing: DEFAULT_TIMING,
    resumeTtlMs: 0,
    ...more,
  };
}
