// One gate for the calls to one peer, or one for each of many.
export { createGate, Gate } from "./gate/gate.ts";
export type { WhyWaiting } from "./gate/gate.ts";
export type { Admission, RunResult } from "./gate/result.ts";
export { createGates, GateMap } from "./gate/gates.ts";
export type { GateKeeping, GatesOptions } from "./gate/gates.ts";
export type {
  AdaptiveOptions,
  BusySetting,
  ConcurrencySetting,
  GateOptions,
  GateRuntime,
} from "./gate/options/gate-options.ts";
export type { CallOptions, KnownCost } from "./gate/options/call-options.ts";
export type { GatePermit } from "./gate/permit/gate-permit.ts";
export type { RunHooks } from "./gate/call/watched-call.ts";
export type { Work } from "./gate/call/work.ts";
export type { Hold } from "./gate/queue/holds.ts";
export type { RateQueue, RateSource } from "./gate/rate/rate-source.ts";
export type { Cost } from "./gate/rate/cost.ts";
export type { RateSetting } from "./rate-setting.ts";
export { ClosedError, DeadlineError, ThrottledError } from "./gate/error/throttled-error.ts";
export type { Refusal, RefusalDetail, RefusedAt } from "./gate/error/refusal.ts";

// What a gate tells.
export type {
  Admitted,
  Cut,
  Ended,
  GateEvent,
  GateObserver,
  Held,
  Left,
  Limited,
  Paused,
  Refused,
  Resumed,
  Retried,
  RetryDenied,
  Returned,
} from "./gate/event/event.ts";

export { warnWhenLimited } from "./gate/event/limited-warning.ts";
export type {
  LimitedWarning,
  LimitedWarningOptions,
  WarnFunction,
} from "./gate/event/limited-warning.ts";

// `fetch` through gates.
export { throttledFetch } from "./http/fetch.ts";
export { isRefusal } from "./http/refused-response.ts";
export type { FetchKeys, ThrottledFetch, ThrottledFetchOptions } from "./http/fetch.ts";

// What an attempt came to, and whether it is made again.
export type { Classify, Settled } from "./outcome/classify.ts";
export type { BusyScope, Retriable, Verdict } from "./outcome/verdict.ts";
export { classifyHttp } from "./outcome/http.ts";
export { classifyGrpc } from "./outcome/grpc.ts";
export { classifyGrpcError } from "./outcome/grpc-error.ts";
export { classifyAwsError } from "./outcome/aws-error.ts";
export { classifyError } from "./outcome/error.ts";
export type { Hint } from "./hints/hint.ts";
export { readHints } from "./hints/hints.ts";
export type { Hints } from "./hints/hints.ts";
export type { HeaderSource } from "./hints/header-source.ts";
export type { RetryOptions } from "./retry/retry.ts";
export type { BackoffOptions } from "./retry/backoff.ts";
export { RetryBudget } from "./retry/budget.ts";
export type { RetryBudgetOptions } from "./retry/budget.ts";
