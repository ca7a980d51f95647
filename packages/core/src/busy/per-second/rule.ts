import { OPEN } from "../busy-throttle.ts";
import type { BusyState } from "../busy-throttle.ts";

/** What one second of sending brought. */
export interface BusySecond {
  readonly sent: number;
  /** Answers that said busy; never more than were sent. */
  readonly busy: number;
}

/**
 * The limit of the next second, from the limit of this one and what it brought. Limits are requests per
 * second and not whole: rounded down, a limit below 1 would stay at 0.
 */
export type BusyRule = (limit: number | undefined, second: BusySecond) => BusyState;

/**
 * The limit at which TChannel's document starts and beyond which it does not grow, in requests per
 * second. Nothing is throttled there. Its tables follow from this number: 38 is 9,999,999 × 4 ÷ 2^20.
 */
export const DOCUMENT_LIMIT_MAX = 9_999_999;

/** The state after a limit became `after`, open from DOCUMENT_LIMIT_MAX on. */
export function moved(before: number, after: number): BusyState {
  if (after >= DOCUMENT_LIMIT_MAX) return OPEN;
  return { limit: after, move: after < before ? "cut" : "recover" };
}
