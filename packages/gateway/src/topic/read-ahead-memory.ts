import type { ByteBudget } from "../memory/byte-budget.ts";

/** A subscription that holds entries which none of its consumers can take now. */
export interface IdleReadAhead {
  /** Lets go of the entries; they are read again when a consumer can take them. */
  letGo(): void;
}

/**
 * The bytes that all subscriptions of a broker have read ahead, charged to the budget of the process.
 * When it is exhausted, entries that nobody can take are let go first; if that is not enough, each
 * subscription reads single entries, so that consumers go on while others hold the memory.
 */
export class ReadAheadMemory {
  readonly #budget: ByteBudget | undefined;
  /** The longest idle first. */
  readonly #idle = new Set<IdleReadAhead>();

  /** Without a budget there is no limit. */
  constructor(budget: ByteBudget | undefined) {
    this.#budget = budget;
  }

  /** Whether more than a single entry may be read. Makes room if it can. */
  hasRoom(): boolean {
    for (const idle of this.#idle) {
      if (!this.#isExhausted()) return true;
      this.#idle.delete(idle);
      idle.letGo();
    }
    return !this.#isExhausted();
  }

  /** A subscription holds so many bytes more, or fewer. */
  add(bytes: number): void {
    if (bytes > 0) this.#budget?.reserve("read-ahead", bytes);
    else if (bytes < 0) this.#budget?.release("read-ahead", -bytes);
  }

  onIdle(subscription: IdleReadAhead): void {
    this.#idle.add(subscription);
  }

  onBusy(subscription: IdleReadAhead): void {
    this.#idle.delete(subscription);
  }

  #isExhausted(): boolean {
    return this.#budget?.isDeliveryExhausted ?? false;
  }
}
