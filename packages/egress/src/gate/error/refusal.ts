import type { Reason } from "@sluice/core";

/**
 * When a call was refused. `door`: its caller would not wait. `full`: the queue was full. `in-vain`: it
 * could not start before its deadline. `deadline`: that passed in the queue. `max-pause`: a pause lasts
 * longer than `maxPauseMs`.
 */
export type RefusedAt = "door" | "full" | "in-vain" | "deadline" | "max-pause";

/** Why a call waits no longer, unserved: its caller gave it up, or the gate was closed. */
export type LeftBecause = "aborted" | "closed";

/** Why a call got no permit, and when to come again. */
export interface Refusal {
  readonly reason: Reason;
  /** An estimate in ms; undefined while it is not known how long calls take. */
  readonly retryAfterMs: number | undefined;
  /** The rate that held the call, by its name; undefined if no rate did. */
  readonly rate?: string | undefined;
  readonly refusedAt?: RefusedAt | undefined;
  /** What held the call and what to do, for the message of the error. */
  readonly detail?: RefusalDetail | undefined;
}

/** The figures of a refusal at the instant of it. */
export interface RefusalDetail {
  /** What held the call: `rate 500/min`, `a permit (concurrency limit 5)`. */
  readonly waitingFor: string;
  readonly waiting: number;
  readonly deadlineMs: number | undefined;
  readonly maxPauseMs: number;
}

/** The message of a refusal: what happened, what held the call, and the way out. */
export function refusalText({ reason, retryAfterMs, refusedAt, detail }: Refusal): string {
  if (detail === undefined) return `throttled: ${reason}${againIn(retryAfterMs)}`;
  const { waitingFor, waiting, deadlineMs, maxPauseMs } = detail;
  switch (refusedAt) {
    case "full":
      return `queue full: ${waiting} calls wait (maxWaiting) for ${waitingFor}; make fewer calls at once or raise maxWaiting${againIn(retryAfterMs)}`;
    case "deadline":
      return `deadline of ${shownMs(deadlineMs)} passed while waiting for ${waitingFor}${againIn(retryAfterMs)}`;
    case "in-vain":
      return `deadline of ${shownMs(deadlineMs)} is before the call could start: it would wait ${shownMs(retryAfterMs)} for ${waitingFor}`;
    case "max-pause":
      return `${waitingFor} lasts ${shownMs(retryAfterMs)} more, longer than maxPauseMs (${maxPauseMs}); try again after it`;
    case "door":
    case undefined:
      return `refused at once, without waiting for ${waitingFor} (wait: false)${againIn(retryAfterMs)}`;
  }
}

function againIn(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined ? "" : `; try again in ${shownMs(retryAfterMs)}`;
}

function shownMs(ms: number | undefined): string {
  return ms === undefined ? "an unknown time" : `${Math.ceil(ms)} ms`;
}
