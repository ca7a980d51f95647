import type { GatePermit } from "../gate/permit/gate-permit.ts";

/**
 * A body and the permit that ends with it, which its copies and branches share. While no read is under
 * way, the permit may be taken back after `restMs` if a call needs it.
 */
export class BodyHold {
  readonly #permit: GatePermit;
  readonly #restMs: number;
  /** Readings under way. */
  #reads = 0;
  #isTouched = false;

  constructor(permit: GatePermit, restMs: number) {
    this.#permit = permit;
    this.#restMs = restMs;
    permit.loosen(restMs);
  }

  /** Whether the body, or a copy of it, may be locked or read by now. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  touch(): void {
    this.#isTouched = true;
  }

  /** A read of a part, or of the whole body, has begun. */
  read(): void {
    this.#reads++;
    this.#permit.tighten();
  }

  /** A read has ended, and the body is not at its end. */
  rest(): void {
    this.#reads--;
    if (this.#reads === 0) this.#permit.loosen(this.#restMs);
  }

  end(outcome: "ok" | "failed"): void {
    this.#permit.end(outcome);
  }
}
