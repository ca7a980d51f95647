import type { Random } from "@sluice/core";

export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The pause before the try after `tries` others, ms: from half of `min(firstMs × 2^(tries − 1), maxMs)` up to
 * all of it, evenly, so that replicas that failed together do not come back together.
 */
export function backoffMs(
  tries: number,
  { firstMs, maxMs }: BackoffBounds,
  random: Random,
): number {
  const boundMs = Math.min(firstMs * 2 ** Math.min(tries - 1, 52), maxMs);
  return boundMs * (0.5 + random.next() / 2);
}
