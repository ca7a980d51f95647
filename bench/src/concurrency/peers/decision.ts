import type { LimitCause, LimitDecision, Outcome, EndedAttempt } from "@sluice/core";

/** Least round trip that counts, since the formulas divide by it. */
const RTT_MIN_MS = 0.001;

export function rttMsOf({ startedAtMs, endedAtMs }: EndedAttempt): number {
  return Math.max(RTT_MIN_MS, endedAtMs - startedAtMs);
}

/** Whether the peers call it a drop: pushed back, broken or timed out. */
export function isDrop(outcome: Outcome): boolean {
  return outcome === "busy" || outcome === "failed";
}

interface Move {
  readonly limitBefore: number;
  readonly limit: number;
  readonly rttMs: number;
  /** What it rests on if that is a drop. */
  readonly drop?: Outcome | undefined;
}

/** A decision in core's terms. */
export function decided({ limitBefore, limit, rttMs, drop }: Move): LimitDecision {
  return {
    limit,
    limitBefore,
    cause: causeOf(limit - limitBefore, drop),
    rttMs,
    startsPerSecond: undefined,
  };
}

function causeOf(change: number, drop: Outcome | undefined): LimitCause {
  if (change > 0) return "room";
  if (change === 0) return "steady";
  if (drop === "busy" || drop === "failed") return drop;
  return "slower";
}
