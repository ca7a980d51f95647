import type { Random } from "../../../random.ts";
import {
  EDGE_MAX_MS,
  EDGE_NEAR,
  EDGE_ROUND_TRIPS,
  HOLD_JITTER,
  HOLD_MAX_MS,
} from "../constants.ts";

/** Where a limit last had to stop, and how long that is remembered. */
interface Edge {
  readonly limit: number;
  readonly untilMs: number;
}

/** When a limit may grow, and by how much. */
export interface Growth {
  readonly heldUntilMs: number;
  readonly edge: Edge | undefined;
  /** Steps in a row that the peer served. */
  readonly streak: number;
}

/** Nothing holds growth and no edge is known. */
export const FREE_GROWTH: Growth = { heldUntilMs: 0, edge: undefined, streak: 0 };

/** No growth for about `roundTrips`, drawn so that clients do not grow in step. */
export function held(
  growth: Growth,
  roundTrips: number,
  { nowMs, rttMs }: { readonly nowMs: number; readonly rttMs: number },
  random: Random,
): Growth {
  const holdMs = Math.min(HOLD_MAX_MS, roundTrips * rttMs);
  const factor = 1 - HOLD_JITTER + 2 * HOLD_JITTER * random.next();
  return { ...growth, heldUntilMs: nowMs + holdMs * factor };
}

/** Growth without a hold and without an edge. */
export function released(growth: Growth): Growth {
  return { ...growth, heldUntilMs: 0, edge: undefined };
}

/** Growth after the limit had to stop at `limit`. */
export function stoppedAt(
  growth: Growth,
  limit: number,
  { nowMs, rttMs }: { readonly nowMs: number; readonly rttMs: number },
): Growth {
  const untilMs = nowMs + Math.min(EDGE_MAX_MS, EDGE_ROUND_TRIPS * rttMs);
  return { ...growth, edge: { limit, untilMs }, streak: 0 };
}

/** Whether the limit had to stop near here not long ago. */
export function isNearEdge({ edge }: Growth, limit: number, nowMs: number): boolean {
  if (edge === undefined || nowMs >= edge.untilMs) return false;
  return Math.abs(limit - edge.limit) < EDGE_NEAR * edge.limit;
}

/**
 * Attempts to try beyond a limit of `attempts`: 1 near an edge, where a loss may be the price of more;
 * elsewhere twice the last step, up to half of the limit.
 */
export function stepOf({ streak }: Growth, attempts: number, isNear: boolean): number {
  return isNear ? 1 : Math.max(1, Math.floor(Math.min(2 ** (streak + 1), attempts / 2)));
}
