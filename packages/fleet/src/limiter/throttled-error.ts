import { SluiceError } from "@sluice/core";
import type { Reason } from "@sluice/core";

/** Tokens were not granted: the queue was full, or `timeoutMs` passed. Nothing was taken. */
export class FleetThrottledError extends SluiceError {
  override readonly name = "FleetThrottledError";
  readonly code = "THROTTLED";
  readonly pool: string;
  /** Why the tokens were missing. */
  readonly reason: Reason;
  /** An estimate of when the same call would be granted; undefined while no tokens are in sight. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    refusal: { pool: string; reason: Reason; retryAfterMs: number | undefined },
  ) {
    const { pool, reason, retryAfterMs } = refusal;
    const again = retryAfterMs === undefined ? "later" : `in about ${Math.ceil(retryAfterMs)} ms`;
    super(`${pool}: ${message}, or try again ${again} (${reason})`);
    this.pool = pool;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The limiter has left its pool: it grants nothing any more. */
export class FleetClosedError extends SluiceError {
  override readonly name = "FleetClosedError";
  readonly code = "CLOSED";
  readonly pool: string;

  constructor(pool: string) {
    super(`${pool}: this limiter has left its pool; call joinFleet for a new one`);
    this.pool = pool;
  }
}
