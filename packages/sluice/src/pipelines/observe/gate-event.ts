import type { HttpSinkOptions } from "@sluice/pipeline";

/** What a gate tells, as the sink passes it on. */
export type GateObserver = Extract<
  NonNullable<HttpSinkOptions["observers"]>,
  (event: never) => void
>;
export type GateEvent = Parameters<GateObserver>[0];
