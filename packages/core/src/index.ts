// Rates: token buckets and limits made of them.
export { TokenBucket } from "./rate/token-bucket.ts";
export type { TokenBucketOptions } from "./rate/token-bucket.ts";
export { KeyedBuckets } from "./rate/keyed-buckets.ts";
export type { KeyedBucketsOptions } from "./rate/keyed-buckets.ts";
export { CompoundLimiter } from "./rate/compound-limiter.ts";
export type { CompoundLimiterOptions } from "./rate/compound-limiter.ts";
export { MultiLevelLimiter } from "./rate/multi-level-limiter.ts";
export type { Throttling } from "./rate/multi-level-limiter.ts";

// Quotas of keys that several processes share.
export { MemoryQuotaStore } from "./quota/memory-quota-store.ts";
export { QUOTA_LEASE_MS } from "./quota/quota-store.ts";
export type {
  QuotaBalance,
  QuotaPolicy,
  QuotaReply,
  QuotaRequest,
  QuotaStore,
  SettledLease,
} from "./quota/quota-store.ts";

// Throttled work: the order of release, and the reasons that hold a connection.
export { FairQueue } from "./fair/fair-queue.ts";
export type { Cost, FairQueueOptions, Flow, Payer } from "./fair/fair-queue.ts";
export { ThrottleTracker } from "./throttle/tracker.ts";

// Admissions, reasons and errors.
export type { Admission } from "./admission.ts";
export { REASONS } from "./reason.ts";
export type { Reason } from "./reason.ts";
export { ConfigError, InvariantError, SluiceError } from "./errors.ts";
export type { SluiceErrorCode } from "./errors.ts";

// Time and randomness; `@sluice/core/system` has the real ones.
export type { Clock, Timer } from "./time.ts";
export { SeededRandom } from "./random.ts";
export type { Random } from "./random.ts";

// A pool's ceiling, and tokens taken of it.
export { Ramp } from "./ramp/ramp.ts";
export type { RampOptions } from "./ramp/ramp.ts";
export type { Grant } from "./share/grant.ts";

// How much a peer can take at once, found by its answers.
export { ConcurrencyLimiter } from "./concurrency/limiter/concurrency-limiter.ts";
export type {
  ConcurrencyLimiterOptions,
  PermitWaiter,
} from "./concurrency/limiter/concurrency-limiter.ts";
export type { Permit } from "./concurrency/limiter/permit.ts";
export type { Outcome } from "./concurrency/outcome.ts";
export type {
  EndedAttempt,
  LimitAlgorithm,
  LimitCause,
  LimitDecision,
} from "./concurrency/algorithm.ts";
export { FixedLimit } from "./concurrency/fixed/fixed-limit.ts";
export { RfcLimit } from "./concurrency/rfc/rfc-limit.ts";
export type { RfcLimitOptions } from "./concurrency/rfc/rfc-limit.ts";
export { VectorLimit } from "./concurrency/vector/vector-limit.ts";
export type { VectorLimitOptions } from "./concurrency/vector/vector-limit.ts";
export { SluiceLimit } from "./concurrency/sluice/sluice-limit.ts";
export type { SluiceLimitOptions } from "./concurrency/sluice/sluice-limit.ts";

// A peer that says busy.
export { createBusyThrottle } from "./busy/create-busy-throttle.ts";
export type { BusyThrottleOptions } from "./busy/create-busy-throttle.ts";
export type { BusyState, BusyThrottle } from "./busy/busy-throttle.ts";
