import { PARTS } from "../ledger/parts.ts";
import type { Entitlement } from "../member/membership.ts";

/** Takes deposited tokens back. */
export type TakeTokensBack = (count: number) => void;

/** What `glance` shows. */
export interface Glance {
  /** Tokens a second, by the ceiling as it is. */
  readonly share: number;
  /** Tokens that could be taken now. */
  readonly left: number;
}

/**
 * One member's tokens as time passes. All times here are those of the `EpochClock`, whose epochs begin
 * at the same instants for all members.
 */
export interface Pacing {
  /** Takes up to `ask` of the tokens that are there; answers how many. */
  take(ask: number, atMs: number, entitlement: Entitlement | undefined): number;
  /** Tokens that could be taken now. */
  leftAt(atMs: number, entitlement: Entitlement | undefined): number;
  /** Takes tokens right after `leftAt`. Tokens that were not there are missing from what comes next. */
  spend(count: number): void;
  /** Takes back tokens of the last `take` or `spend`; after an epoch or a second they are gone. */
  readonly takeBack: TakeTokensBack;
  /** When `count` tokens will have come if nothing changes; undefined if none come. */
  readyAtMs(count: number, atMs: number, entitlement: Entitlement | undefined): number | undefined;
  /** The most tokens that can be there at once, with the present share. */
  readonly countMax: number;
  /** Reads without counting as a call: no ramp moves. */
  glance(atMs: number, entitlement: Entitlement | undefined): Glance;
}

/** One second, in which ceilings and shares are counted: Numaflow's unit. */
export const EPOCH_MS = 1000;

export function epochAt(atMs: number): number {
  return Math.floor(atMs / EPOCH_MS);
}

/** Tokens a second that an entitlement is worth, not rounded. */
export function exactShare(ceiling: number, entitlement: Entitlement | undefined): number {
  if (entitlement === undefined) return 0;
  if (entitlement.kind === "seat") return ceiling / entitlement.seat.poolSize;
  return (ceiling * entitlement.parts) / PARTS;
}
