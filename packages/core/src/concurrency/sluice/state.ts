import type { LimitCause } from "../algorithm.ts";
import type { Baseline } from "./waiting/baseline.ts";
import { SAMPLES, SAMPLES_MAX, SAMPLES_PER_LIMIT } from "./constants.ts";
import type { Growth } from "./phases/growth.ts";
import type { Sharing } from "./phases/sharing.ts";

/** Slow start: the limit grows with every attempt served, until there is a queue or a loss. */
interface StartPhase {
  readonly name: "start";
  /** Where the start ends at the latest: a limit that was found before. Undefined: at `maxLimit`. */
  readonly ceiling?: number;
}

/** The limit is about what the peer takes. Now and then a probe tries a little more. */
interface CruisePhase {
  readonly name: "cruise";
  readonly probe: Probe | undefined;
}

/**
 * The limit is lowered for a moment, so that the peer is measured without a queue of ours.
 *
 * - `start`: a queue ended the slow start; its round trips are judged again by the new baseline.
 * - `queue`: a queue grew; the limit resumes below it.
 * - `baseline`: something queues and the baseline is old; the limit resumes where it was.
 * - `yield`: room for other clients; the limit resumes by a probe. See `sharing.ts`.
 */
export type DrainPhase = {
  readonly name: "drain";
  readonly limitBefore: number;
  readonly resumeLimit: number;
} & (
  | { readonly reason: "start"; readonly startRttsMs: readonly number[] }
  | { readonly reason: "queue" | "baseline" | "yield" }
);

/** Nothing is served: single attempts go out at a low rate, whether earlier ones have ended or not. */
export interface OutagePhase {
  readonly name: "outage";
  readonly resumeLimit: number;
  /**
   * What silence has interrupted, which goes on if the silence ends before an attempt is lost.
   * Undefined if the outage was noticed by losses.
   */
  readonly interrupted?: Exclude<Phase, OutagePhase>;
}

type Phase = StartPhase | CruisePhase | DrainPhase | OutagePhase;

/** Attempts beyond the limit, which moves only once all of them were served. */
export interface Probe {
  /** What the limit grows by then. */
  readonly step: number;
  /** Weight that may still start beyond the limit. */
  readonly left: number;
  /** Attempts that did and have not ended. */
  readonly out: number;
  /** Weight of those that were lost. */
  readonly lost: number;
  /** Whether it takes back what was yielded to other clients. */
  readonly isYield: boolean;
  readonly sinceMs: number;
  /** When the last of its attempts started: later ones with as many in flight replace served ones. */
  readonly lastStartMs: number;
}

/** The last time that the limit or the pace was lowered. */
interface Cut {
  readonly atMs: number;
  /** Cuts without a window in between that went well. */
  readonly inARow: number;
  /** Whether the number in flight explained the losses. */
  readonly isExplained: boolean;
  /** What the first loss in a row changed; undefined if a queue was the reason. */
  readonly before: Before | undefined;
}

/** Where a limit was before losses lowered it: there it resumes if they were random. */
interface Before {
  readonly limit: number;
  readonly isStart: boolean;
}

/** A loss at a number in flight that was never tried before: one less may be the limit. */
interface Suspect {
  readonly limit: number;
  readonly atMs: number;
}

/** All that `SluiceLimit` believes about a peer. */
export interface State {
  /** Not whole, so that small limits move by fractions. What is in force is `limitOf`. */
  readonly limit: number;
  readonly phase: Phase;
  /** Undefined until the first round trips were measured. */
  readonly baseline: Baseline | undefined;
  readonly growth: Growth;
  readonly cut: Cut;
  readonly sharing: Sharing;
  /** The lowest since the last cut. */
  readonly suspect: Suspect | undefined;
}

/** The next state, why, and which evidence no longer counts. */
export interface Ruling {
  readonly state: State;
  /** Undefined: nothing to report. */
  readonly cause: LimitCause | undefined;
  /** Mean round trip that the ruling rests on. */
  readonly rttMs?: number | undefined;
  /** `settle`: the new window begins once the number in flight has followed the limit. */
  readonly window: "keep" | "restart" | "settle";
  /** The limit or the pace was lowered: counts since the last cut begin anew. */
  readonly isCut?: boolean;
  /** A window went well: old losses count less. */
  readonly isWell?: boolean;
  /** Numbers in flight above this count as never tried. */
  readonly triedUpTo?: number;
}

/** The limit without what a probe may add: whole, at least 1. */
export function wholeLimitOf({ limit }: State): number {
  return Math.floor(limit);
}

/** The limit in force. */
export function limitOf(state: State): number {
  const { phase } = state;
  const probing = phase.name === "cruise" ? (phase.probe?.left ?? 0) : 0;
  return wholeLimitOf(state) + probing;
}

/** Round trips worth keeping for a limit of `attempts`. */
export function samplesMaxOf(attempts: number): number {
  return Math.min(SAMPLES_MAX, Math.max(SAMPLES, SAMPLES_PER_LIMIT * attempts));
}

interface CutReason {
  readonly nowMs: number;
  readonly cause: LimitCause;
  /** Whether the number in flight explains it. */
  readonly isExplained?: boolean;
  readonly before?: Before;
}

/**
 * Lowers the limit or the pace: attempts that started until now no longer count. Numbers in flight up
 * to `triedUpTo` stay known. A drain passes the limit that it resumes at: it is no fault of the peer.
 */
export function cutTo(
  state: State,
  change: Pick<State, "limit" | "phase"> & Partial<Pick<State, "growth">>,
  { nowMs, cause, isExplained = false, before }: CutReason,
  triedUpTo: number = Math.floor(change.limit),
): Ruling {
  const { limit, phase, growth = state.growth } = change;
  const cut = { ...state.cut, atMs: nowMs, isExplained, before };
  return {
    state: { ...state, limit, phase, growth, cut, suspect: undefined },
    cause,
    window: "settle",
    isCut: true,
    triedUpTo,
  };
}
