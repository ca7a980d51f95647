import type { Random } from "../../../random.ts";
import {
  HOLD_JITTER,
  SHARED_DECREASE,
  SHARED_MOVES,
  SHARED_MS,
  YIELD_EVERY_MS,
  YIELD_LEFT,
} from "../constants.ts";
import { cutTo } from "../state.ts";
import type { Probe, Ruling, State } from "../state.ts";

/**
 * What is known of other clients behind the same concurrency limit. A client that has found the limit
 * exactly keeps all of it: a newcomer's attempts are refused, and its own never are. So a client at
 * such a limit yields a part of it now and then. If the part is free afterwards, the client is alone.
 */
export interface Sharing {
  /** Whether losses have told how many may be in flight. */
  readonly isLimitKnown: boolean;
  /** No yield before this. */
  readonly yieldAtMs: number;
  /** The number in flight at which a single attempt beyond the limit was last lost without an answer. */
  readonly refusedAt: number;
  /** How often such a number was served later: the limit moves, so others use it too. */
  readonly moves: number;
  /** Until then other clients are supposed to be there. */
  readonly sharedUntilMs: number;
}

export const ALONE: Sharing = {
  isLimitKnown: false,
  yieldAtMs: 0,
  refusedAt: Infinity,
  moves: 0,
  sharedUntilMs: 0,
};

export function isShared({ sharing }: State, nowMs: number): boolean {
  return nowMs < sharing.sharedUntilMs;
}

/** Whether a client that has just been refused at its limit makes room for others. */
export function isYieldDue(state: State, nowMs: number): boolean {
  return nowMs >= state.sharing.yieldAtMs && !isShared(state, nowMs) && state.limit >= 2;
}

/** Lowers the limit for a moment, so that others can get in. */
export function yieldPart(state: State, nowMs: number, random: Random): Ruling {
  const limitBefore = state.limit;
  const phase = {
    name: "drain",
    reason: "yield",
    limitBefore,
    resumeLimit: limitBefore,
  } as const;
  const factor = 1 - HOLD_JITTER + 2 * HOLD_JITTER * random.next();
  const sharing = { ...state.sharing, yieldAtMs: nowMs + YIELD_EVERY_MS * factor };
  const limit = Math.max(1, Math.floor(YIELD_LEFT * limitBefore));
  return cutTo({ ...state, sharing }, { limit, phase }, { nowMs, cause: "drain" }, limit);
}

/** Whether others have taken a part of what a yield left free. */
export function isTaken({ isYield, lost }: Probe): boolean {
  return isYield && lost > 0;
}

/** Losses have told how many may be in flight, and fewer were lost below. */
export function limitKnown(state: State): State {
  return { ...state, sharing: { ...state.sharing, isLimitKnown: true } };
}

/** A single attempt beyond the limit was lost with this number in flight. */
export function refusedAt(state: State, inFlight: number): State {
  return { ...state, sharing: { ...state.sharing, refusedAt: inFlight } };
}

/** The limit has grown. A number that was refused before is served now: others have made room. */
export function moved(state: State, limit: number, nowMs: number): State {
  const { sharing } = state;
  if (limit < sharing.refusedAt) return state;
  const moves = sharing.moves + 1;
  const next = { ...state, sharing: { ...sharing, refusedAt: Infinity, moves } };
  return moves < SHARED_MOVES ? next : shared(next, nowMs);
}

/** The limit is shared: clients become equal by additive increase and multiplicative decrease. */
export function shared(state: State, nowMs: number): State {
  return { ...state, sharing: { ...state.sharing, sharedUntilMs: nowMs + SHARED_MS } };
}

/** The limit after a refusal beyond it, if it is shared. */
export function sharedCut(limit: number): number {
  return Math.max(1, SHARED_DECREASE * limit);
}
