import type { Reason } from "@sluice/core";
import type { Refusal } from "./error/refusal.ts";
import type { ThrottledError } from "./error/throttled-error.ts";
import type { GatePermit } from "./permit/gate-permit.ts";

/** A call was refused: a result, not an error. */
interface RefusedResult {
  readonly refused: Reason;
  readonly retryAfterMs: number | undefined;
  /** The rate that held the call, by its name; undefined if no rate did. */
  readonly rate?: string | undefined;
}

/** A permit, or why there is none. */
export type Admission =
  | { readonly permit: GatePermit; readonly refused?: undefined }
  | ({ readonly permit?: undefined } & RefusedResult);

/** The value of a call, or why it was not made. */
export type RunResult<T> = { readonly value: T; readonly refused?: undefined } | RefusedResult;

export function refusedResult({
  reason,
  retryAfterMs,
  rate,
}: Refusal | ThrottledError): RefusedResult {
  const result = { refused: reason, retryAfterMs };
  return rate === undefined ? result : { ...result, rate };
}
