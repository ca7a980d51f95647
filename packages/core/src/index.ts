// Time and randomness come in; `@sluice/core/system` has the real ones.
export { CachedClock } from "./cached-clock.ts";
export type { CachedClockOptions } from "./cached-clock.ts";
export { SeededRandom } from "./random.ts";
export type { Random } from "./random.ts";
export type { Clock, Timer } from "./time.ts";
export { parseDurationMs } from "./duration.ts";

// Why something waits, and what can go wrong.
export {
  ConfigError,
  InvariantError,
  requireDuration,
  requireKnownKeys,
  requireNumber,
  requireWhole,
  SluiceError,
} from "./errors.ts";
export type { SluiceErrorCode, SourceLine } from "./errors.ts";
export { REASONS } from "./reason.ts";
export type { Reason } from "./reason.ts";

// Rates: tokens that time brings.
export { TokenBucket } from "./rate/token-bucket.ts";
export type { TokenBucketOptions } from "./rate/token-bucket.ts";
export { KeyedBuckets } from "./rate/keyed-buckets.ts";
export type { KeyedBucketsOptions } from "./rate/keyed-buckets.ts";
export { CompoundLimiter } from "./rate/compound-limiter.ts";
export type { CompoundRates } from "./rate/compound-limiter.ts";
export { MultiLevelLimiter } from "./rate/multi-level-limiter.ts";
export type { Pause } from "./rate/multi-level-limiter.ts";
export { RateMeter } from "./rate/rate-meter.ts";
export type { RateMeterOptions } from "./rate/rate-meter.ts";
export { RecentRate } from "./rate/recent-rate.ts";

// The throttled: whose turn is next, and what holds a connection back.
export { Fifo } from "./fair/fifo.ts";
export { FairQueue } from "./fair/fair-queue.ts";
export type { Cost, FairQueueOptions, FlowRef, Purse } from "./fair/fair-queue.ts";
export { ThrottleTracker } from "./throttle/tracker.ts";
export type { TrackerChange } from "./throttle/tracker.ts";

// A pool's ceiling: how it moves, how members share it, what they take of it.
export { Ramp } from "./ramp/ramp.ts";
export type { CeilingOfEpoch, RampModeOptions, RampOptions, RampStart } from "./ramp/ramp.ts";
export type { RampBounds } from "./ramp/level.ts";
export type { RampStep, Usage } from "./ramp/mode.ts";
export type { OnlyIfUsedOptions } from "./ramp/only-if-used.ts";
export type { GoBackNOptions } from "./ramp/go-back-n.ts";
export { shareOf } from "./share/share.ts";
export type { Division, Seat } from "./share/share.ts";
export { EpochAccount } from "./share/epoch-account.ts";
export { Grant } from "./share/grant.ts";
export type { Deposit, DepositKind, TakeBack } from "./share/grant.ts";

// How much a peer can take at once, found by its answers.
export { ConcurrencyLimiter } from "./concurrency/limiter/concurrency-limiter.ts";
export type {
  ConcurrencyLimiterOptions,
  PermitWaiter,
} from "./concurrency/limiter/concurrency-limiter.ts";
export type { Permit } from "./concurrency/limiter/permit.ts";
export type { Outcome } from "./concurrency/outcome.ts";
export { Semaphore } from "./concurrency/limiter/semaphore.ts";
export type { SemaphoreOptions } from "./concurrency/limiter/semaphore.ts";
export type { Waiter } from "./concurrency/limiter/waiter-queue.ts";
export type {
  EndedAttempt,
  LimitAlgorithm,
  LimitBounds,
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
export { Ewma } from "./concurrency/ewma.ts";

// A peer that says busy.
export { createBusyThrottle } from "./busy/create-busy-throttle.ts";
export type { BusyRuleName, BusyThrottleOptions } from "./busy/create-busy-throttle.ts";
export type { BusyState, BusyThrottle } from "./busy/busy-throttle.ts";
export { PerSecondBusyThrottle } from "./busy/per-second-throttle.ts";
export { ProbingBusyThrottle } from "./busy/probing-throttle.ts";
export { LIMIT_MAX } from "./busy/busy-rule.ts";
export type { BusyLimit, BusyMove, BusyRule, BusySecond, Recovery } from "./busy/busy-rule.ts";
export { tableRule } from "./busy/table-rule.ts";
export { proseRule } from "./busy/prose-rule.ts";
