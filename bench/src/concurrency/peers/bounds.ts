import type { LimitBounds } from "@sluice/core/internal";

/** Bounds of a peer that also has a least limit to set. */
export interface PeerBounds extends LimitBounds {
  readonly minLimit: number;
}

/** `limit`, or the bound that it is beyond. */
export function clampLimit(limit: number, { minLimit, maxLimit }: PeerBounds): number {
  return Math.max(minLimit, Math.min(maxLimit, limit));
}
