import type { LimitDecision, Outcome, Reason } from "@sluice/core";
import type { BusyScope } from "../../outcome/verdict.ts";
import type { LeftBecause, RefusedAt } from "../error/refusal.ts";

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

/** A call joined the queue, for this reason; in shadow mode it would have, and it ran at once. */
export interface Held extends Happening {
  readonly type: "held";
  readonly reason: Reason;
  /** The rate that holds the call, by its name; undefined if no rate does. */
  readonly rate: string | undefined;
  readonly waiting: number;
  /** The concurrency limit; undefined if there is none. */
  readonly limit: number | undefined;
  readonly isShadow: boolean;
}

/** A call left the queue, or the parked calls, unserved. */
export interface Left extends Happening {
  readonly type: "left";
  readonly leftBecause: LeftBecause;
}

/** A call was refused; in shadow mode it would have been, and it ran all the same. */
export interface Refused extends Happening {
  readonly type: "refused";
  readonly reason: Reason;
  /** The rate that held the call, by its name; undefined if no rate did. */
  readonly rate: string | undefined;
  readonly refusedAt: RefusedAt;
  readonly retryAfterMs: number | undefined;
  readonly waiting: number;
  /** The concurrency limit; undefined if there is none. */
  readonly limit: number | undefined;
  readonly isShadow: boolean;
}

/** What became of an attempt is known. */
export interface Ended extends Happening {
  readonly type: "ended";
  readonly outcome: Outcome;
  /** What the busy answer speaks of, if the outcome is `busy` and the answer says it. */
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

/** No call starts for `pauseMs`, because the peer or the user asked for it. */
export interface Paused extends Happening {
  readonly type: "paused";
  readonly reason: "retry-after";
  /** Only calls that cost something at this rate are paused; undefined: all calls. */
  readonly rate: string | undefined;
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

/** What kept a call from being made again. */
export type DeniedBy = "attempts" | "budget" | "max-parked" | "deadline" | "max-pause";

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

/** Gets every event in the step in which it happens: it should be quick. */
export type GateObserver = (event: GateEvent) => void;
