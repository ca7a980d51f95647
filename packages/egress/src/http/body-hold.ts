import type { GatePermit } from "../gate/permit/gate-permit.ts";

/**
 * A body and the permit that ends with it, which its copies and branches share. While nobody waits
 * for a part of the body, the permit may be taken back after `restMs` if somebody needs it.
 */
export class BodyHold {
  readonly #permit: GatePermit;
  readonly #restMs: number;
  /** Readings under way. */
  #reads = 0;

  constructor(permit: GatePermit, restMs: number) {
    this.#permit = permit;
    this.#restMs = restMs;
    permit.loosen(restMs);
  }

  /** Somebody waits for a part, or for all of it. */
  read(): void {
    this.#reads++;
    this.#permit.tighten();
  }

  /** They have got it, and the body is not at its end. */
  rest(): void {
    this.#reads--;
    if (this.#reads === 0) this.#permit.loosen(this.#restMs);
  }

  end(outcome: "ok" | "failed"): void {
    this.#permit.end(outcome);
  }
}
