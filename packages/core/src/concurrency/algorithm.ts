import type { Outcome } from "./outcome.ts";

/** One attempt that has ended. */
export interface Sample {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: Outcome;
  /** In flight when it started, itself included. */
  readonly inFlightAtStart: number;
  /** Still in flight after it ended. */
  readonly inFlight: number;
}

/**
 * Why a limit is what it is after a decision. `start`, `room` and `probe` grow it, `busy`, `failed`
 * and `slower` shrink it, `drain` lowers it for a moment to see the peer without a queue; `idle`
 * and `steady` leave it.
 */
export type LimitCause =
  | "start"
  | "room"
  | "probe"
  | "busy"
  | "failed"
  | "slower"
  | "drain"
  | "idle"
  | "steady";

/** What an algorithm made of what it saw. */
export interface LimitDecision {
  readonly limit: number;
  readonly limitBefore: number;
  readonly cause: LimitCause;
  /** Round trip that the decision rests on; undefined if it rests on none. */
  readonly rttMs: number | undefined;
  /** Starts a second that are paced; undefined while only the number in flight is limited. */
  readonly startsPerSecond: number | undefined;
}

/**
 * Finds how much a peer can take: attempts in, a limit out. It waits for nothing and starts
 * nothing. Every instant comes in, from one clock.
 *
 * `min` ≤ limit ≤ `max` always, whatever comes in; an attempt is announced to `onStart` once and
 * to `onEnd` once.
 */
export interface LimitAlgorithm {
  /** Attempts that may be in flight at once: whole, at least 1. May fall below what is in flight. */
  readonly limit: number;
  /** How long no further attempt may start, whatever is free. 0 unless the peer limits the rate. */
  pauseMs(nowMs: number): number;
  /** An attempt starts; `inFlight` counts it. */
  onStart(nowMs: number, inFlight: number): void;
  /** An attempt has ended. Answers if that led to a decision, also to one that left the limit. */
  onEnd(sample: Sample): LimitDecision | undefined;
}

/** Bounds that every adaptive algorithm keeps to. */
export interface LimitBounds {
  /** Where the limit starts. */
  readonly initialLimit: number;
  readonly limitMax: number;
}
