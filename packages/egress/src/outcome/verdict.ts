import type { Outcome } from "@sluice/core";

/**
 * Who is meant by a busy answer. `busy-here`: this peer, another may serve. `over-quota`: this
 * caller, who has used what is theirs. `overloaded`: the whole service, for everybody.
 */
export type BusyScope = "busy-here" | "over-quota" | "overloaded";

/**
 * Whether the attempt may be made again. `safe`: the peer has not begun it. `if-idempotent`: it
 * may have been executed. `never`: it would end the same way.
 */
export type Retriable = "safe" | "if-idempotent" | "never";

/** What one attempt came to, and what its answer asks for. */
export interface Verdict {
  readonly outcome: Outcome;
  readonly retriable: Retriable;
  /** Given with the outcome `busy`. */
  readonly scope?: BusyScope;
  /** The peer's word: nothing is sent under this key for so long. */
  readonly pauseMs?: number;
}
