/** One member of a pool and a store, taken apart for simulations: `@sluice/fleet/sim`. */
export { MemberSession } from "./membership/session.ts";
export type { Condition, Identity } from "./membership/session.ts";
export { Membership } from "./membership/membership.ts";
export type {
  Entitlement,
  MembershipChange,
  MembershipRules,
  Standing,
} from "./membership/membership.ts";
export { checkTiming, DEFAULT_TIMING } from "./membership/timing.ts";
export type { Timing } from "./membership/timing.ts";
export { Ceiling } from "./limiter/ceiling.ts";
export { DemandMeter } from "./limiter/demand-meter.ts";
export { EpochPacing } from "./pacing/epoch-pacing.ts";
export { SmoothPacing } from "./pacing/smooth-pacing.ts";
export { exactShare } from "./pacing/pacing.ts";
export type { Pacing } from "./pacing/pacing.ts";
export { EpochClock } from "./pacing/epoch-clock.ts";
export { MemoryStore } from "./store/memory-store.ts";
export { PARTS } from "./store/pool-store.ts";
export type { LeaveRequest, SyncReply, SyncRequest } from "./store/pool-store.ts";
