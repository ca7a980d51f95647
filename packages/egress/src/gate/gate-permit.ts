import type { Outcome, Permit } from "@sluice/core";
import type { Verdict } from "../outcome/verdict.ts";
import type { LoosePermit } from "./entrance.ts";

/** Who gave the permit and counts what becomes of it. */
export interface GatePermitIssuer {
  measure(permit: Permit, verdict: Verdict): void;
  end(permit: Permit, verdict: Verdict): void;
  loosen(permit: GatePermit, afterMs: number): void;
  tighten(permit: GatePermit): void;
}

/** The right to have one attempt in flight, for those who start and end it themselves. */
export class GatePermit implements LoosePermit {
  readonly #issuer: GatePermitIssuer;
  readonly #permit: Permit;
  readonly #onEnd: (() => void) | undefined;
  /** When it is taken back if somebody needs it; kept by the gate. */
  dueMs = 0;
  /** Kept by the gate. */
  place: number | undefined;

  constructor(issuer: GatePermitIssuer, permit: Permit, onEnd?: () => void) {
    this.#issuer = issuer;
    this.#permit = permit;
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

  /** Counts the attempt now and keeps the permit, as for an answer whose rest is still coming. */
  measure(result: Outcome | Verdict): void {
    if (!this.#permit.isMeasured && !this.#permit.hasEnded)
      this.#issuer.measure(this.#permit, verdictOf(result));
  }

  /** Gives the permit back. Only the first call counts. */
  end(result: Outcome | Verdict): void {
    if (this.#permit.hasEnded) return;
    this.tighten();
    this.#onEnd?.();
    this.#issuer.end(this.#permit, verdictOf(result));
  }

  /** From `afterMs` on it is taken back if somebody needs it: so nothing forgotten holds it for ever. */
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
}

const BY_OUTCOME: Readonly<Record<Outcome, Verdict>> = {
  ok: { outcome: "ok", retriable: "never" },
  busy: { outcome: "busy", retriable: "safe" },
  failed: { outcome: "failed", retriable: "if-idempotent" },
  ignored: { outcome: "ignored", retriable: "never" },
};

function verdictOf(result: Outcome | Verdict): Verdict {
  return typeof result === "string" ? BY_OUTCOME[result] : result;
}
