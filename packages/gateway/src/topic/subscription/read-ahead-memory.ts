import type { ByteBudget } from "../../memory/byte-budget.ts";

/** A subscription that holds entries which none of its consumers can take now. */
export interface IdleReadAhead {
  /** Lets go of the entries; they are read again when a consumer can take them. */
  letGo(): void;
}

/** What is remembered of an entry that a consumer has, with its place in a map: measured. */
const TRACKED_BYTES = 160;

/** Ranges of acknowledged entries that all cursors together may have; each takes up to 32 bytes. */
const RANGES_MAX = 1_000_000;

/**
 * The bytes that all subscriptions of a broker have read ahead, charged to the budget of the process.
 * When it is exhausted, entries that nobody can take are let go first; if that is not enough, each
 * subscription reads single entries, so that consumers go on while others hold the memory.
 */
export class ReadAheadMemory {
  readonly #budget: ByteBudget | undefined;
  /** The longest idle first. */
  readonly #idle = new Set<IdleReadAhead>();
  #ranges = 0;

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

  /** A subscription remembers so many entries more, or fewer. */
  track(entries: number): void {
    if (entries > 0) this.#budget?.reserve("tracking", entries * TRACKED_BYTES);
    else if (entries < 0) this.#budget?.release("tracking", -entries * TRACKED_BYTES);
  }

  /** Whether cursors may have more ranges. */
  get hasRoomForRanges(): boolean {
    return this.#ranges < RANGES_MAX;
  }

  /** A cursor has so many ranges more, or fewer. */
  addRanges(ranges: number): void {
    this.#ranges += ranges;
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
