import type { LimitDecision, Outcome, Reason } from "@sluice/core";
import type { BusyScope } from "../outcome/verdict.ts";

interface Happening {
  /** Name of the gate. */
  readonly gate: string;
  readonly atMs: number;
}

/** A call got its permit. */
export interface Admitted extends Happening {
  readonly type: "admitted";
  readonly weight: number;
  readonly waitedMs: number;
  readonly inFlight: number;
  readonly limit: number | undefined;
}

/** A call took a place in line, for this reason; in shadow mode only on paper, and it ran at once. */
export interface Held extends Happening {
  readonly type: "held";
  readonly reason: Reason;
  readonly waiting: number;
  readonly isShadow: boolean;
}

/** Why a call waits no longer, unserved: its caller gave it up, or the gate was closed. */
export type LeftBecause = "aborted" | "closed";

/** A call left the line, or its place among the parked. */
export interface Left extends Happening {
  readonly type: "left";
  readonly leftBecause: LeftBecause;
}

/** Where a call was refused: because its caller would not wait, or the line was full, or it would have been in vain, or was. */
export type RefusedAt = "door" | "full" | "in-vain" | "deadline";

/** A call was refused; in shadow mode only on paper, and it ran all the same. */
export interface Refused extends Happening {
  readonly type: "refused";
  readonly reason: Reason;
  readonly refusedAt: RefusedAt;
  readonly retryAfterMs: number | undefined;
  readonly isShadow: boolean;
}

/** What became of an attempt is known. */
export interface Ended extends Happening {
  readonly type: "ended";
  readonly outcome: Outcome;
  /** Who is meant, if the outcome is `busy` and the answer tells. */
  readonly scope: BusyScope | undefined;
  readonly rttMs: number;
  /** With its own permit if that stays out: a body is still coming, or the function goes on. */
  readonly inFlight: number;
}

/** The permit of an attempt that had ended before has come back. */
export interface Returned extends Happening {
  readonly type: "returned";
  /** How long it was out, from the start of the attempt. */
  readonly heldMs: number;
  readonly inFlight: number;
}

/** The concurrency limit was looked at. */
export interface Limited extends Happening {
  readonly type: "limit";
  readonly decision: LimitDecision;
}

/** The peer was believed busy, and the rate towards it cut. */
export interface Cut extends Happening {
  readonly type: "cut";
  readonly reason: "peer-busy";
  /** Calls a second. */
  readonly limit: number;
  /** Undefined: there was no limit. */
  readonly limitBefore: number | undefined;
}

/** Nothing starts for so long, because the peer said so. */
export interface Paused extends Happening {
  readonly type: "paused";
  readonly reason: "retry-after";
  readonly pauseMs: number;
}

/** A pause was ended by hand before its time. */
export interface Resumed extends Happening {
  readonly type: "resumed";
}

/** A call that failed is made again after a delay; `attempt` 1 is the first retry. */
export interface Retried extends Happening {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
}

/** What kept a call from being made again: its attempts, the budget, `maxParked` or its deadline. */
export type DeniedBy = "attempts" | "budget" | "max-parked" | "deadline";

/** A call that failed could be made again, but is not; `attempt` 1 would have been the first retry. */
export interface RetryDenied extends Happening {
  readonly type: "retry-denied";
  readonly attempt: number;
  readonly deniedBy: DeniedBy;
}

export type GateEvent =
  | Admitted
  | Held
  | Left
  | Refused
  | Ended
  | Returned
  | Limited
  | Cut
  | Paused
  | Resumed
  | Retried
  | RetryDenied;

/** Is told of every decision, in the step in which it is made: it should be quick. */
export type GateObserver = (event: GateEvent) => void;
