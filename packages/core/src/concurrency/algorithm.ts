import type { Outcome } from "./outcome.ts";

/** An attempt that has ended. Weights and numbers in flight are in the same unit: permits. */
export interface EndedAttempt {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: Outcome;
  /** Permits that the attempt held. */
  readonly weight: number;
  /** In flight when the attempt started, its own weight included. */
  readonly inFlightAtStart: number;
  /** Still in flight after it ended. */
  readonly inFlight: number;
}

/**
 * Why a limit is what it is after a decision. `start`, `room` and `probe` grow it; `busy`, `failed`
 * and `slower` shrink it; `drain` lowers it for a moment to measure the peer without a queue; `idle`
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

/** What an algorithm decided, and why. */
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
 * Finds how much a peer can take: attempts in, a limit out. An algorithm never waits and never starts
 * anything. Every instant is passed in, from one clock.
 *
 * `limit`, `pauseMs` and `stallMs` are questions: asked or not, later decisions stay the same. Each attempt is
 * reported to `onStart` once and to `onEnd` once.
 */
export interface LimitAlgorithm {
  /** Weight that may be in flight at once: whole, at least 1. May fall below what is in flight. */
  readonly limit: number;
  /** How long no attempt may start, whatever is free, in ms. 0 unless the peer limits a rate. */
  pauseMs(nowMs: number): number;
  /**
   * Milliseconds until the limit may rise because the peer is silent, without an attempt that ends;
   * undefined if it cannot. At that time `onTime` is to be called. Absent: the limit never does.
   */
  stallMs?(nowMs: number): number | undefined;
  /**
   * Time has passed. To be called before `limit` is read at a new instant. Returns the decision if silence
   * has led to one.
   */
  onTime?(nowMs: number): LimitDecision | undefined;
  /** An attempt of `weight` starts; `inFlight` includes it. */
  onStart(nowMs: number, inFlight: number, weight: number): void;
  /**
   * An attempt could not start although less than `limit` is in flight: it weighs more than what is
   * free, or `pauseMs` is above 0. Algorithms that grow only when their limit was reached count this
   * as reached; with weights above 1 a limit is seldom filled exactly.
   */
  onBlocked?(nowMs: number): void;
  /** An attempt has ended. Returns the decision that followed, also one that left the limit. */
  onEnd(attempt: EndedAttempt): LimitDecision | undefined;
}

/** Bounds of an adaptive limit. */
export interface LimitBounds {
  /**
   * The limit before anything was measured.
   *
   * @default 1
   */
  readonly initialLimit: number;
  /**
   * The limit never grows beyond this.
   *
   * @default 200
   */
  readonly maxLimit: number;
}
