import { InvariantError } from "../errors.ts";

/**
 * How an attempt ended, as far as the peer's capacity is concerned.
 *
 * - `ok`: the peer served it; its round trip counts.
 * - `busy`: the peer refused it because of load; its round trip says nothing about service.
 * - `failed`: it broke or timed out. Load may be the cause, so it counts as a loss like `busy`.
 * - `ignored`: it says nothing about the peer, such as an attempt that the caller cancelled.
 */
export type Outcome = "ok" | "busy" | "failed" | "ignored";

const OUTCOMES: ReadonlySet<unknown> = new Set<Outcome>(["ok", "busy", "failed", "ignored"]);

/** Refuses a word that is none of them: an algorithm would count it as nothing. */
export function requireOutcome(outcome: Outcome): void {
  if (OUTCOMES.has(outcome)) return;
  throw new InvariantError(
    `outcome is ${JSON.stringify(outcome)}; use "ok", "busy", "failed" or "ignored"`,
  );
}
