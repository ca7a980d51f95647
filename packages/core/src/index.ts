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
export { ConcurrencyLimiter } from "./concurrency/limiter.ts";
export type { ConcurrencyLimiterOptions, PermitWaiter } from "./concurrency/limiter.ts";
export { Permit } from "./concurrency/permit.ts";
export type { PermitIssuer } from "./concurrency/permit.ts";
export type { Outcome } from "./concurrency/outcome.ts";
export { Semaphore } from "./concurrency/semaphore.ts";
export type { SemaphoreOptions } from "./concurrency/semaphore.ts";
export type { Waiter } from "./concurrency/line.ts";
export type {
  LimitAlgorithm,
  LimitBounds,
  LimitCause,
  LimitDecision,
  Sample,
} from "./concurrency/algorithm.ts";
export { FixedLimit } from "./concurrency/fixed.ts";
export { RfcLimit } from "./concurrency/rfc.ts";
export type { RfcLimitOptions } from "./concurrency/rfc.ts";
export { VectorLimit } from "./concurrency/vector.ts";
export type { VectorLimitOptions } from "./concurrency/vector.ts";
export { SluiceLimit } from "./concurrency/sluice.ts";
export { StartPace } from "./concurrency/start-pace.ts";
export { Ewma } from "./concurrency/ewma.ts";

// A peer that says busy.
export { createBusyThrottle } from "./busy/create-busy-throttle.ts";
export type { BusyRuleName, BusyThrottleOptions } from "./busy/create-busy-throttle.ts";
export type { BusyMove, BusyState, BusyThrottle } from "./busy/busy-throttle.ts";
export { SluiceBusyThrottle } from "./busy/sluice/throttle.ts";
export type { SluiceBusyThrottleOptions } from "./busy/sluice/throttle.ts";
export { PerSecondBusyThrottle } from "./busy/per-second/throttle.ts";
export type { PerSecondBusyThrottleOptions } from "./busy/per-second/throttle.ts";
export { DOCUMENT_LIMIT_MAX } from "./busy/per-second/rule.ts";
export type { BusyRule, BusySecond } from "./busy/per-second/rule.ts";
export type { Recovery } from "./busy/per-second/recovery.ts";
export { tableRule } from "./busy/per-second/table-rule.ts";
export { proseRule } from "./busy/per-second/prose-rule.ts";
