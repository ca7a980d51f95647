import type { ByteBudget } from "./byte-budget.ts";

/** A connection, as far as the memory is concerned that it keeps in use. */
export interface Holder {
  /** Begun frames, held SENDs, entries on their way, and bytes that either peer has not taken. */
  readonly keptBytes: number;
  /** Ends the connection. What it kept is free at once, except for what is being stored. */
  shed(reason: string): void;
  /** Nothing more is read until the budget is free. */
  holdBack(): void;
}

/** Connections that keep less are not closed for their memory: many would have to go for little. */
const SHED_BYTES_MIN = 32_768;

/**
 * Peers that do not end their frames, do not read or exceed limits are blamed for a full budget if what they
 * keep is more than this part of it, and more than what is being stored. Else the store is slow, or there
 * are too many clients, and closing some would not help.
 */
const BLAMED_PART = 1 / 8;

/**
 * Keeps the counted bytes below the bound. Connections are closed, largest first, when the budget is full
 * because of them; a client that keeps little is never closed for what others keep.
 */
export class MemoryGuard {
  readonly #budget: ByteBudget;
  readonly #holders: ReadonlySet<Holder>;

  /** `holders` is read when memory is needed. */
  constructor(budget: ByteBudget, holders: ReadonlySet<Holder>) {
    this.#budget = budget;
    this.#holders = holders;
  }

  /**
   * Whether a new connection may come. While the budget is crowded, connections that keep the most are closed for
   * it: else clients that do nothing could keep all others out.
   */
  letsIn(): boolean {
    if (this.#budget.isCrowded && this.#isBlamed) this.#shed();
    return !this.#budget.isCrowded;
  }

  /** A connection has waited for memory for long: connections that keep the most are closed for it. */
  makeRoom(): void {
    if (this.#budget.isExhausted && this.#isBlamed) this.#shed();
  }

  /** To be called where bytes arrive, and between two frames; not from within an ingress. */
  relieve(): void {
    if (this.#budget.isFull && this.#isBlamed) this.#shed();
    if (this.#budget.isFull) for (const holder of this.#holders) holder.holdBack();
  }

  get #isBlamed(): boolean {
    const { peerBytes, bytesMax } = this.#budget;
    return peerBytes > bytesMax * BLAMED_PART && peerBytes > this.#budget.bytesOf("publish");
  }

  /** Until the budget is free again: between that mark and `isExhausted`, SENDs that wait would go on waiting. */
  #shed(): void {
    const largest = [...this.#holders]
      .map((holder) => ({ holder, keptBytes: holder.keptBytes }))
      .filter(({ keptBytes }) => keptBytes >= SHED_BYTES_MIN)
      .toSorted((one, other) => other.keptBytes - one.keptBytes);
    for (const { holder } of largest) {
      if (!this.#budget.isExhausted) return;
      holder.shed("it kept the most of a memory that was full");
    }
  }
}
