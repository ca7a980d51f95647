/** One member of a pool and a store, taken apart for simulations: `@sluice/fleet/sim`. */
export { MemberSession } from "./member/session.ts";
export type { Condition, Identity } from "./member/session.ts";
export { Membership } from "./member/membership.ts";
export type { Entitlement, MembershipChange, MemberRules, Standing } from "./member/membership.ts";
export { checkTiming, DEFAULT_TIMING } from "./ledger/timing.ts";
export type { Timing } from "./ledger/timing.ts";
export { Ceiling } from "./limiter/ceiling.ts";
export { DemandMeter } from "./limiter/demand-meter.ts";
export { EpochPacing } from "./pacing/epoch-pacing.ts";
export { SmoothPacing } from "./pacing/smooth-pacing.ts";
export { exactShare } from "./pacing/pacing.ts";
export type { Pacing } from "./pacing/pacing.ts";
export { EpochClock } from "./pacing/epoch-clock.ts";
export { Ledger } from "./ledger/ledger.ts";
export type { LedgerState } from "./ledger/ledger.ts";
export { MemoryStore } from "./store/memory-store.ts";
export { PARTS, POOL_MEMBERS_MAX } from "./ledger/parts.ts";
export type { LeaveRequest, SyncReply, SyncRequest } from "./store/pool-store.ts";
