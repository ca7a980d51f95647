import { SluiceError } from "@sluice/core";
import type { Reason } from "@sluice/core";
import { refusalText } from "./refusal.ts";
import type { Refusal, RefusedAt } from "./refusal.ts";

/** The gate refused a call, or its deadline passed while it waited. The call was not sent. */
export class ThrottledError extends SluiceError {
  override readonly name = "ThrottledError";
  readonly code = "THROTTLED";
  readonly gate: string;
  readonly reason: Reason;
  readonly retryAfterMs: number | undefined;
  /** The rate that held the call, by its name; undefined if no rate did. */
  readonly rate: string | undefined;
  readonly refusedAt: RefusedAt | undefined;
  /** For layers below the caller: trying again at once only adds to the load. */
  readonly isRetriable = false;

  constructor(gate: string, refusal: Refusal) {
    super(`${gate}: ${refusalText(refusal)}`);
    this.gate = gate;
    this.reason = refusal.reason;
    this.retryAfterMs = refusal.retryAfterMs;
    this.rate = refusal.rate;
    this.refusedAt = refusal.refusedAt;
  }
}

/** A deadline, or the timeout of an attempt, passed while the call ran. It may have been executed. */
export class DeadlineError extends SluiceError {
  override readonly name = "DeadlineError";
  readonly code = "DEADLINE";
  readonly gate: string;

  /** @param bound What passed, such as `the deadline of 100 ms`. */
  constructor(gate: string, bound: string = "the deadline") {
    super(`${gate}: no answer before ${bound}; the call may have been executed`);
    this.gate = gate;
  }
}

/** The gate was closed before the call began. */
export class ClosedError extends SluiceError {
  override readonly name = "ClosedError";
  readonly code = "CLOSED";
  readonly gate: string;

  constructor(gate: string) {
    super(`${gate} is closed; the call was not sent`);
    this.gate = gate;
  }
}
