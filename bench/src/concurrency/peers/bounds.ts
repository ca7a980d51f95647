import type { LimitBounds } from "@sluice/core";

/** Bounds of a peer that also has a least limit to set. */
export interface PeerBounds extends LimitBounds {
  readonly limitMin: number;
}

/** `limit`, or the bound that it is beyond. */
export function clampLimit(limit: number, { limitMin, limitMax }: PeerBounds): number {
  return Math.max(limitMin, Math.min(limitMax, limit));
}
