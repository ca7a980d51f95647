import type { Reason } from "@sluice/core";

/** The calls that wait in a gate, for a rate to look at. */
export interface RateQueue {
  /** Admits the calls whose tokens are there. */
  wake(): void;
  /** Whether the first waiting call waits for this rate, and not for a permit or a pause. */
  isWaiting(): boolean;
}

/**
 * Tokens that a gate takes before it lets a call start. A rate that several processes share can
 * stand behind it, if it answers at once. No method may throw.
 */
export interface RateSource {
  /** The reason of holds and refusals while tokens are missing. */
  readonly reason: Reason;
  /** A call that wants more tokens than this waits for this many. Default: no bound. */
  readonly countMax?: number;
  /** The rate as text, such as `500/min`, for error messages. Default: none. */
  readonly text?: string;
  /**
   * Takes `count` tokens if they are there, else none. A gate asks again for a call that waits: false is
   * no refusal, and not to be counted as one.
   */
  tryTake(count: number, nowMs: number): boolean;
  /**
   * Corrects what was taken: takes `count` more tokens, into debt if necessary, or gives back `-count`
   * tokens if `count` is below 0. Without it a cost cannot be settled, and a call that another rate
   * refuses after this one gave its tokens has lost them. Default: none.
   */
  adjust?(count: number, nowMs: number): void;
  /**
   * The peer says that it has no tokens for `pauseMs`: those that come meanwhile must not be saved up, or
   * the pause would end in a burst that the peer refuses. Default: none.
   */
  onPaused?(pauseMs: number, nowMs: number): void;
  /** The user has ended the last pause before its time: its tokens come again from now on. Default: none. */
  onResumed?(nowMs: number): void;
  /** A call of `count` tokens was refused because this rate had too few. Called once per call. */
  onRefused?(count: number): void;
  /** How long until `count` tokens have come, as far as is known; 0 if they are there. */
  pauseMs(count: number, nowMs: number): number;
  /** Whether a new gate would admit no more than the rate. Default: true. */
  isFull?(nowMs: number): boolean;
  /**
   * Wakes the gate's queue whenever tokens come that `pauseMs` did not announce; never from within
   * one of the methods above. Answers how to stop that.
   */
  subscribe?(queue: RateQueue): () => void;
}
