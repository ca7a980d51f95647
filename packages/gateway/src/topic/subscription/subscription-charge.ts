import type { Subscription } from "../../subscription/subscription.ts";
import type { IdleReadAhead, ReadAheadMemory } from "./read-ahead-memory.ts";

/** What one subscription takes of the memory of all: read-ahead, tracked entries, ranges. */
export class SubscriptionCharge {
  readonly #memory: ReadAheadMemory;
  readonly #owner: IdleReadAhead;
  #bytes = 0;
  #entries = 0;
  #ranges = 0;
  #isIdle = false;
  #isReleased = false;

  /** `owner` lets go of its entries when memory asks for them while it is idle. */
  constructor(memory: ReadAheadMemory, owner: IdleReadAhead) {
    this.#memory = memory;
    this.#owner = owner;
  }

  /** Whether bytes or entries are charged. */
  get isHolding(): boolean {
    return this.#bytes + this.#entries > 0;
  }

  get hasBytes(): boolean {
    return this.#bytes > 0;
  }

  update({ heldBytes, trackedEntries, cursor }: Subscription, hasConsumers: boolean): void {
    if (this.#isReleased) return;
    const memory = this.#memory;
    if (trackedEntries !== this.#entries) memory.track(trackedEntries - this.#entries);
    this.#entries = trackedEntries;
    if (cursor.rangeCount !== this.#ranges) memory.addRanges(cursor.rangeCount - this.#ranges);
    this.#ranges = cursor.rangeCount;
    if (heldBytes === this.#bytes) return;
    memory.add(heldBytes - this.#bytes);
    this.#bytes = heldBytes;
    if (heldBytes === 0 && hasConsumers) this.setIdle(false);
  }

  setIdle(isIdle: boolean): void {
    if (this.#isIdle === isIdle) return;
    this.#isIdle = isIdle;
    if (isIdle) this.#memory.onIdle(this.#owner);
    else this.#memory.onBusy(this.#owner);
  }

  /** The subscription is no more; it must have let go of all entries. */
  release(): void {
    this.setIdle(false);
    this.#memory.addRanges(-this.#ranges);
    this.#isReleased = true;
  }
}
