import type { SessionLimits } from "./limits.ts";
import type { ReadGate } from "./read-gate.ts";

/**
 * Counts the SENDs of a connection that have no receipt yet. Reading stops at `pendingSendsMax` and
 * goes on at half of it.
 */
export class PendingSends {
  readonly #max: number;
  readonly #gate: ReadGate;
  #count = 0;

  constructor({ pendingSendsMax }: SessionLimits, gate: ReadGate) {
    this.#max = pendingSendsMax;
    this.#gate = gate;
  }

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count++;
    if (this.#count === this.#max) this.#gate.block("connection-pending");
  }

  settle(): void {
    this.#count--;
    if (this.#count === this.#max >> 1) this.#gate.unblock("connection-pending");
  }
}
