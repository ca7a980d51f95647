import type { Reason } from "../reason.ts";
import type { BusyLimit } from "./busy-rule.ts";

/** Requests allowed a second, and what last happened to that number. */
export type BusyState = BusyLimit;

/**
 * Keeps a client within what its peer can take, judged by the answers that say busy.
 *
 * Nothing ticks: time that has passed is accounted for on the next call. Every method takes the
 * instant from `nowMs` if given; it must come from the throttle's clock. `state` and `pauseMs` are
 * questions: asked or not, what is sent and when stays the same.
 */
export interface BusyThrottle {
  state(nowMs?: number): BusyState;
  /** How long until one more may be sent, as things are; 0 is now. An answer may change it. */
  pauseMs(nowMs?: number): number;
  /** Counts a request that is about to be sent, or gives the reason not to send it now. */
  trySend(nowMs?: number): Reason | undefined;
  /**
   * An answer came to a request sent at `sentAtMs`, an instant of the same clock. It may be a
   * request that was never limited.
   */
  onAnswer(sentAtMs: number, isBusy: boolean, nowMs?: number): void;
}
