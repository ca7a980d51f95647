export { joinFleet } from "./join/join-fleet.ts";
export type { JoinOptions } from "./join/join-fleet.ts";
export { clearPoolLimits, setPoolLimits } from "./join/pool-limits.ts";
export { watchPoolLimits } from "./join/watch-pool-limits.ts";
export type { WatchOptions } from "./join/watch-pool-limits.ts";
export { FleetLimiter } from "./limiter/fleet-limiter.ts";
export type { AcquireOptions } from "./limiter/fleet-limiter.ts";
export type { TokenQueue } from "./limiter/share-source.ts";
export { FleetClosedError, FleetThrottledError } from "./limiter/throttled-error.ts";
export type { FleetCounts } from "./limiter/counts.ts";
export type { FleetState, MembershipState } from "./limiter/state.ts";
export type { FleetEvent } from "./limiter/event.ts";
export { DuplicateMemberError } from "./join/duplicate-member-error.ts";

// Where members meet.
export { MemoryStore } from "./store/memory-store.ts";
export { redisStore } from "./store/redis/store.ts";
export { redisQuotaStore } from "./quota/redis-quota-store.ts";
export type { RedisStoreOptions } from "./store/redis/options/options.ts";
export type { RedisLibraryName } from "./store/redis/connect/library.ts";
export { StoreError } from "./store/store-error.ts";
export type {
  LeaveReason,
  LeaveRequest,
  PoolStore,
  SavedLevel,
  SyncReply,
  SyncRequest,
} from "./store/pool-store.ts";

export type { PoolRoster, RosterMember } from "./ledger/roster.ts";

// What they are told.
export { readRateLimit } from "./settings/rate-limit.ts";
export type { RateLimitBlock, RateLimitSettings, ResumeSettings } from "./settings/rate-limit.ts";
export { inheritRateLimit } from "./settings/inherit.ts";
export { readFleetOptions } from "./settings/fleet-options.ts";
export type { FleetOptions, FleetSettings, PacingName } from "./settings/fleet-options.ts";
export type { ReadSecret, Secret, SecretRef } from "./settings/secret.ts";
export type { Timing } from "./ledger/timing.ts";

// One bucket for all threads of a process.
export { SharedBucket } from "./threads/shared-bucket.ts";
export type { AttachOptions, SharedBucketHandle } from "./threads/shared-bucket.ts";
export type { SharedBucketOptions, SharedBucketSettings } from "./threads/settings.ts";
