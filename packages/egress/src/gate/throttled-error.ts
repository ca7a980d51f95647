import { SluiceError } from "@sluice/core";
import type { Reason } from "@sluice/core";

/** Why a call got no permit, and when to come again. */
export interface Refusal {
  readonly reason: Reason;
  /** An estimate; undefined while nothing is known of how long calls take. */
  readonly retryAfterMs: number | undefined;
}

/** The gate refused a call, or its deadline passed while it waited. It was not sent. */
export class ThrottledError extends SluiceError {
  override readonly name = "ThrottledError";
  readonly code = "THROTTLED";
  readonly gate: string;
  readonly reason: Reason;
  readonly retryAfterMs: number | undefined;
  /** For layers below the caller: trying again here and now only adds to the load. */
  readonly isRetriable = false;

  constructor(gate: string, { reason, retryAfterMs }: Refusal) {
    super(`${gate} is throttled: ${reason}`);
    this.gate = gate;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The deadline passed while the call ran. It may have been executed. */
export class DeadlineError extends SluiceError {
  override readonly name = "DeadlineError";
  readonly code = "DEADLINE";
  readonly gate: string;

  constructor(gate: string) {
    super(`${gate} gave no answer before the deadline`);
    this.gate = gate;
  }
}

/** The gate was closed before the call began. */
export class ClosedError extends SluiceError {
  override readonly name = "ClosedError";
  readonly code = "CLOSED";
  readonly gate: string;

  constructor(gate: string) {
    super(`${gate} is closed`);
    this.gate = gate;
  }
}
