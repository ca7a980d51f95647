// One gate for the calls to one peer, or one for each of many.
export { createGate, Gate } from "./gate/gate.ts";
export type { Admission, RunResult, WhyWaiting } from "./gate/gate.ts";
export { createGates, GateMap } from "./gate/gates.ts";
export type { GateKeeping, GatesOptions } from "./gate/gates.ts";
export type {
  AdaptiveOptions,
  BusySetting,
  Classify,
  ConcurrencySetting,
  GateOptions,
  GateRuntime,
  Settled,
} from "./gate/options.ts";
export type { CallOptions } from "./gate/call-options.ts";
export type { GatePermit } from "./gate/gate-permit.ts";
export type { RunHooks, Work } from "./gate/run.ts";
export type { Hold } from "./gate/entrance.ts";
export type { RateQueue, RateSource } from "./gate/rate-source.ts";
export type { RateSetting } from "./rate-setting.ts";
export { ClosedError, DeadlineError, ThrottledError } from "./gate/throttled-error.ts";
export type { Refusal } from "./gate/throttled-error.ts";

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
  RefusedAt,
  Resumed,
  Retried,
  RetryDenied,
  Returned,
} from "./gate/event.ts";

// `fetch` through gates.
export { throttledFetch } from "./http/fetch.ts";
export type { FetchKeys, ThrottledFetch, ThrottledFetchOptions } from "./http/fetch.ts";

// What an attempt came to, and whether it is made again.
export type { BusyScope, Retriable, Verdict } from "./outcome/verdict.ts";
export { classifyHttp } from "./outcome/http.ts";
export { classifyGrpc } from "./outcome/grpc.ts";
export { classifyError } from "./outcome/error.ts";
export { readHints } from "./hints/hints.ts";
export type { Hints } from "./hints/hints.ts";
export type { HeaderSource } from "./hints/header-source.ts";
export type { Quota } from "./hints/rate-limit-fields.ts";
export type { RetryOptions } from "./retry/retry.ts";
export type { BackoffOptions } from "./retry/backoff.ts";
export { RetryBudget } from "./retry/budget.ts";
export type { RetryBudgetOptions } from "./retry/budget.ts";
