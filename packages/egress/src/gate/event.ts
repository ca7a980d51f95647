import type { LimitDecision, Outcome, Reason } from "@sluice/core";

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

/** A call took a place in line, for this reason. */
export interface Held extends Happening {
  readonly type: "held";
  readonly reason: Reason;
  readonly waiting: number;
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
  readonly rttMs: number;
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
  readonly limitBefore: number;
}

/** Nothing starts for so long, because the peer said so. */
export interface Paused extends Happening {
  readonly type: "paused";
  readonly reason: "retry-after";
  readonly pauseMs: number;
}

/** A call that failed is made again after a delay; `attempt` 1 is the first retry. */
export interface Retried extends Happening {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
}

export type GateEvent = Admitted | Held | Refused | Ended | Limited | Cut | Paused | Retried;

/** Is told of every decision, in the step in which it is made: it should be quick. */
export type GateObserver = (event: GateEvent) => void;
