import { InvariantError } from "../errors.ts";

/** What last happened to a limit. `open`: there is none. */
export type BusyMove = "open" | "cut" | "recover";

/** How many requests per second a peer is sent at most, and what last happened to that limit. */
export type BusyState =
  | { readonly limit: undefined; readonly move: "open" }
  | { readonly limit: number; readonly move: "cut" | "recover" };

/** Nothing is throttled. */
export const OPEN: BusyState = { limit: undefined, move: "open" };

/**
 * Limits the requests of a client to what its peer accepts, judged by the answers that say busy.
 *
 * No timer runs: time that has passed is accounted for on the next call. Every method takes the
 * instant from `nowMs` if given; it must come from the throttle's clock. `state` and `pauseMs` are
 * questions: asked or not, the throttle admits the same requests at the same instants.
 */
export interface BusyThrottle {
  state(nowMs?: number): BusyState;
  /** How long until one more request may be sent, in ms, if no answer changes the limit; 0 is now. */
  pauseMs(nowMs?: number): number;
  /** Counts a request that is about to be sent and answers true; false if it may not be sent now. */
  trySend(nowMs?: number): boolean;
  /**
   * An answer came to a request sent at `sentAtMs`, an instant of the same clock. The request may be
   * one that `trySend` was never asked about.
   */
  onAnswer(sentAtMs: number, isBusy: boolean, nowMs?: number): void;
}

/** Refuses an answer to a request of an unknown instant: NaN would stay in every later comparison. */
export function requireSentAt(sentAtMs: number): void {
  // The text is made for the error only: made for every answer, it took a fifth of a call's time.
  if (Number.isFinite(sentAtMs)) return;
  throw new InvariantError(
    `sentAtMs of onAnswer is ${sentAtMs}; use the instant at which the request was sent`,
  );
}
