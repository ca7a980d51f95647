import { ConfigError } from "@sluice/core";
import type { Outcome, Permit } from "@sluice/core";
import { shown } from "../../check-options.ts";
import { requireVerdict } from "../../outcome/verdict.ts";
import type { Verdict } from "../../outcome/verdict.ts";
import type { LoosePermit } from "./loose-permits.ts";
import type { Charge } from "../rate/charge.ts";
import type { Cost } from "../rate/cost.ts";

/** The gate that gave a permit and counts what becomes of it. */
export interface GatePermitIssuer {
  measure(permit: Permit, verdict: Verdict): void;
  end(permit: Permit, verdict: Verdict): void;
  settle(charge: Charge | undefined, cost: Cost): void;
  loosen(permit: GatePermit, afterMs: number): void;
  tighten(permit: GatePermit): void;
}

/**
 * The right to have one attempt in flight, for callers that start and end it themselves. `using` ends it
 * as `ignored` unless it was ended before.
 */
export class GatePermit implements LoosePermit {
  readonly #issuer: GatePermitIssuer;
  readonly #permit: Permit;
  readonly #charge: Charge | undefined;
  readonly #onEnd: (() => void) | undefined;
  /** When it is taken back if a call needs it; kept by the gate. */
  dueMs = 0;
  /** Kept by the gate. */
  place: number | undefined;

  constructor(
    issuer: GatePermitIssuer,
    permit: Permit,
    charge: Charge | undefined,
    onEnd?: () => void,
  ) {
    this.#issuer = issuer;
    this.#permit = permit;
    this.#charge = charge;
    this.#onEnd = onEnd;
  }

  get weight(): number {
    return this.#permit.weight;
  }

  get startedAtMs(): number {
    return this.#permit.startedAtMs;
  }

  get hasEnded(): boolean {
    return this.#permit.hasEnded;
  }

  /**
   * Sets the real cost of the attempt: more is charged, less is given back, rates that are not named
   * stay as they are. May be called again, and also after the end; the last call holds.
   *
   * @example
   * const { permit } = await gate.acquire({ cost: { tokens: 1200 } });
   * const { usage } = await complete(prompt);
   * permit?.settle({ tokens: usage.total_tokens });
   * permit?.end("ok");
   */
  settle(cost: Cost): void {
    this.#issuer.settle(this.#charge, cost);
  }

  /** Counts the attempt now and keeps the permit, as for an answer whose rest is still coming. */
  measure(result: Outcome | Verdict): void {
    if (!this.#permit.isMeasured && !this.#permit.hasEnded)
      this.#issuer.measure(this.#permit, verdictOf(result));
  }

  /** Gives the permit back. Only the first call counts. */
  end(result: Outcome | Verdict): void {
    if (this.#permit.hasEnded) return;
    const verdict = verdictOf(result);
    this.tighten();
    this.#onEnd?.();
    this.#issuer.end(this.#permit, verdict);
  }

  /** From `afterMs` on it is taken back if a call needs it: so nothing forgotten holds it for ever. */
  loosen(afterMs: number): void {
    if (!this.#permit.hasEnded && this.place === undefined) this.#issuer.loosen(this, afterMs);
  }

  /** It is in use again, so it is not taken back. */
  tighten(): void {
    if (this.place !== undefined) this.#issuer.tighten(this);
  }

  takeBack(): void {
    this.end("ignored");
  }

  [Symbol.dispose](): void {
    this.end("ignored");
  }
}

const BY_OUTCOME: Readonly<Record<Outcome, Verdict>> = {
  ok: { outcome: "ok", retriable: "never" },
  busy: { outcome: "busy", retriable: "safe" },
  failed: { outcome: "failed", retriable: "if-idempotent" },
  ignored: { outcome: "ignored", retriable: "never" },
};

function verdictOf(result: Outcome | Verdict): Verdict {
  const known: Readonly<Partial<Record<string, Verdict>>> = BY_OUTCOME;
  const verdict = typeof result === "string" ? known[result] : undefined;
  if (verdict !== undefined) return verdict;
  if (typeof result === "object") return requireVerdict("the end of a permit", result);
  throw new ConfigError(
    `a permit was ended with ${shown(result)}; use "ok", "busy", "failed" or "ignored"`,
  );
}
