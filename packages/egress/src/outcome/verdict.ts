import { ConfigError } from "@sluice/core";
import type { Outcome } from "@sluice/core";
import type { Hint } from "../hints/hint.ts";

/**
 * What a busy answer speaks of. `busy-here`: this peer is busy, another may serve. `over-quota`: this caller has
 * used up its quota. `overloaded`: the whole service, for all callers.
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
  /** The peer asks for a pause of all calls under this key, in ms. */
  readonly pauseMs?: number;
  /**
   * What the peer says of single limits. A hint that names a rate of the gate pauses that rate. A hint on
   * a rate that the gate does not have pauses all calls if the outcome is `busy` or the limit is one of
   * every call, and is left aside otherwise.
   */
  readonly hints?: readonly Hint[];
}

const OUTCOMES: ReadonlySet<unknown> = new Set<Outcome>(["ok", "busy", "failed", "ignored"]);

/**
 * Refuses a verdict of the user's making that has no outcome, such as the promise of an async `classify`:
 * the gate would take every answer of a busy peer for one that says nothing.
 */
export function requireVerdict(from: string, verdict: Verdict): Verdict {
  const found: unknown = verdict;
  const outcome =
    typeof found === "object" && found !== null && "outcome" in found && found.outcome;
  if (OUTCOMES.has(outcome)) return verdict;
  throw new ConfigError(
    `${from} gave ${shown(found)}; use { outcome, retriable } with the outcome "ok", "busy", "failed" or "ignored", and no promise of it`,
  );
}

function shown(found: unknown): string {
  if (found === undefined) return "nothing";
  return found instanceof Promise ? "a promise" : JSON.stringify(found);
}
