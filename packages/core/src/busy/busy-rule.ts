import { requireNumber } from "../errors.ts";

/** What one second of sending brought. */
export interface BusySecond {
  readonly sent: number;
  /** Answers that said busy; never more than were sent. */
  readonly busy: number;
}

export type BusyMove = "cut" | "recover" | "open";

export interface BusyLimit {
  /** Requests a second, a real number: as a whole one it would stay at 0 once there. */
  readonly limit: number;
  /** `open`: at its highest, so nothing is throttled. */
  readonly move: BusyMove;
}

/** The limit of the next second, from the limit of this one and what it brought. */
export type BusyRule = (limit: number, second: BusySecond) => BusyLimit;

/** How a limit grows: by a factor, or by a number of requests, a second. */
export type Recovery = { readonly rate: number } | { readonly value: number };

export function requireRecovery(recovery: Recovery): void {
  if ("rate" in recovery) requireNumber("rate", recovery.rate, 0, LIMIT_MAX);
  else requireNumber("value", recovery.value, 0, LIMIT_MAX);
}

/** The limit where nothing is throttled, and where every rule starts. */
export const LIMIT_MAX = 9_999_999;

/** `after`, kept to the highest, with what was done to `before`. */
export function moved(before: number, after: number): BusyLimit {
  const limit = Math.min(LIMIT_MAX, after);
  if (limit === LIMIT_MAX) return { limit, move: "open" };
  return { limit, move: limit < before ? "cut" : "recover" };
}
