/** For the packages of this repository only: any name here may change or go in any version. */

// Checks of options, and the constants they share.
export {
  COUNT_MAX,
  requireCount,
  requireDuration,
  requireKnownKeys,
  requireNumber,
  requireWhole,
  wholeText,
} from "./errors.ts";
export type { SourceLine } from "./errors.ts";
export { parseBytes } from "./units/byte-size.ts";
export { nearest } from "./numbers/nearest.ts";
export { durationText, parseDurationMs } from "./units/duration.ts";
export { readPerSecond } from "./units/per-second.ts";
export type { RateUnit, ReadRate } from "./units/per-second.ts";
export { DURATION_MAX_MS, NANOS_PER_MS, SECOND_MS } from "./time.ts";

// Parts of limiters.
export { checkQuotaRequest } from "./quota/check-quota-request.ts";
export { CachedClock } from "./cached-clock.ts";
export { Fifo } from "./fair/fifo.ts";
export { RecentRate } from "./rate/recent-rate.ts";

export { RateMeter } from "./rate/rate-meter.ts";
export type { RateMeterOptions } from "./rate/rate-meter.ts";
export type { BucketOptions } from "./rate/rate-options.ts";

// A pool's ceiling: how it moves, how members share it, what they take of it.
export type { CeilingOfEpoch, RampModeOptions } from "./ramp/ramp.ts";
export type { RampStep, Usage } from "./ramp/mode.ts";
export { shareOf } from "./share/share.ts";
export type { Division, Seat } from "./share/share.ts";
export { EpochAccount } from "./share/epoch-account.ts";
export { Grant } from "./share/grant.ts";
export type { TakeBack } from "./share/grant.ts";

// Parts of adaptive concurrency.
export type { LimitBounds } from "./concurrency/algorithm.ts";
export { Semaphore } from "./concurrency/limiter/semaphore.ts";
export type { SemaphoreOptions } from "./concurrency/limiter/semaphore.ts";
export type { Waiter } from "./concurrency/limiter/waiter-queue.ts";
export { Permit } from "./concurrency/limiter/permit.ts";
export type { PermitIssuer } from "./concurrency/limiter/permit.ts";
export { Ewma } from "./concurrency/ewma.ts";

// Rules for a peer that says busy.
export type { BusyRuleName } from "./busy/create-busy-throttle.ts";
export type { BusyMove } from "./busy/busy-throttle.ts";
export type { Recovery } from "./busy/per-second/recovery.ts";
export { SluiceBusyThrottle } from "./busy/sluice/throttle.ts";
export type { SluiceBusyThrottleOptions } from "./busy/sluice/throttle.ts";
export { PerSecondBusyThrottle } from "./busy/per-second/throttle.ts";
export type { PerSecondBusyThrottleOptions } from "./busy/per-second/throttle.ts";
export { DOCUMENT_LIMIT_MAX } from "./busy/per-second/rule.ts";
export type { BusyRule, BusySecond } from "./busy/per-second/rule.ts";
export { tableRule } from "./busy/per-second/table-rule.ts";
export { proseRule } from "./busy/per-second/prose-rule.ts";

// One listener per abort signal.
export { addAbortListener, removeAbortListener } from "./abort/abort-listeners.ts";
export type { AbortListener } from "./abort/abort-listeners.ts";

// Staying below a quota that a peer enforces by pauses.
export { AcceptedRate } from "./pace/accepted-rate.ts";
export { QuotaPace } from "./pace/quota-pace.ts";

// Many alarms on one sleep of the timer.
export { AlarmHeap } from "./alarm/alarm-heap.ts";
export type { Alarm } from "./alarm/alarm-heap.ts";
export { Alarms } from "./alarm/alarms.ts";
export type { Sleeper } from "./alarm/alarms.ts";

// Secrets in text that others have written.
export { PIECE_LENGTH, Redaction } from "./redaction.ts";
