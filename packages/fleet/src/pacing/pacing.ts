import { PARTS } from "../ledger/parts.ts";
import type { Entitlement } from "../member/membership.ts";

/** Takes tokens back, for whatever reason they come. */
export type TakeTokensBack = (count: number) => void;

/** What a look shows that changes nothing. */
export interface Glance {
  /** Tokens a second, by the ceiling as it is. */
  readonly share: number;
  /** Tokens that could be taken now. */
  readonly left: number;
}

/**
 * One member's tokens as time passes. The time of a pool counts in epochs that are the same for
 * all its members; what is passed in here is that time.
 */
export interface Pacing {
  /** Takes up to `ask` tokens of what the member is entitled to at this instant. */
  take(ask: number, atMs: number, entitlement: Entitlement | undefined): number;
  /** Tokens that could be taken now. */
  leftAt(atMs: number, entitlement: Entitlement | undefined): number;
  /** Takes tokens right after `leftAt`; those that were not there are missing from what comes next. */
  spend(count: number): void;
  /** Gives back tokens that were taken just before; what comes back too late is gone. */
  readonly takeBack: TakeTokensBack;
  /** When `count` will have come if nothing changes; undefined if never. */
  readyAtMs(count: number, atMs: number, entitlement: Entitlement | undefined): number | undefined;
  /** The most that can ever be there at once, for now. */
  readonly countMax: number;
  /** Looks without counting as a call: no ramp moves. */
  glance(atMs: number, entitlement: Entitlement | undefined): Glance;
}

export const EPOCH_MS = 1000;

export function epochAt(atMs: number): number {
  return Math.floor(atMs / EPOCH_MS);
}

/** The part of a ceiling that an entitlement is, not rounded. */
export function exactShare(ceiling: number, entitlement: Entitlement | undefined): number {
  if (entitlement === undefined) return 0;
  if (entitlement.kind === "seat") return ceiling / entitlement.seat.poolSize;
  return (ceiling * entitlement.parts) / PARTS;
}
