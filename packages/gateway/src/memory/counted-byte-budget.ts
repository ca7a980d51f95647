import { requireWhole } from "@sluice/core/internal";
import type { ByteBudget, ByteUse } from "./byte-budget.ts";

/** Parts of the maximum, in the order in which they are reached. */
const EXHAUSTED_PART = 3 / 4;
const CROWDED_PART = 4 / 5;
const FULL_PART = 15 / 16;

/** Room is announced at this part of a mark, so that waiters do not wake for one entry each. */
const FREE_PART = 7 / 8;

/** The smallest budget: some hundred connections with their consumers fit into it. */
const BYTES_MAX_MIN = 1024 * 1024;

/** Counts the bytes of one process. Reserving never fails: what has arrived is there. */
export class CountedByteBudget implements ByteBudget {
  readonly bytesMax: number;
  readonly #onChange: (isExhausted: boolean) => void;
  readonly #uses: Record<ByteUse, number> = {
    "partial-frame": 0,
    held: 0,
    publish: 0,
    "read-ahead": 0,
    tracking: 0,
    outbound: 0,
    clients: 0,
  };
  readonly #listeners = new Set<() => void>();
  #bytes = 0;
  #peakBytes = 0;
  /** What is on its way to consumers and clients. */
  #deliveryBytes = 0;
  #onUnused: () => void = () => {};
  #isExhausted = false;
  #isDeliveryExhausted = false;

  /** `onChange` hears of `isExhausted` only. */
  constructor(bytesMax: number, onChange: (isExhausted: boolean) => void) {
    requireWhole("memoryBytesMax", bytesMax, BYTES_MAX_MIN);
    this.bytesMax = bytesMax;
    this.#onChange = onChange;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The most bytes that were ever counted. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  get isCrowded(): boolean {
    return this.#bytes > this.bytesMax * CROWDED_PART;
  }

  get isFull(): boolean {
    return this.#bytes > this.bytesMax * FULL_PART;
  }

  get peerBytes(): number {
    return this.#uses["partial-frame"] + this.#uses.held + this.#uses.outbound;
  }

  get isDeliveryExhausted(): boolean {
    return this.#isExhausted || this.#isDeliveryExhausted;
  }

  bytesOf(use: ByteUse): number {
    return this.#uses[use];
  }

  /** The bytes of every use. */
  byUse(): Readonly<Record<ByteUse, number>> {
    return { ...this.#uses };
  }

  reserve(use: ByteUse, bytes: number): void {
    this.#uses[use] += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#peakBytes) this.#peakBytes = this.#bytes;
    if (isDelivery(use)) {
      this.#deliveryBytes += bytes;
      if (this.#deliveryBytes > this.bytesMax / 2) this.#isDeliveryExhausted = true;
    }
    if (this.#isExhausted || this.#bytes <= this.bytesMax * EXHAUSTED_PART) return;
    this.#isExhausted = true;
    this.#onChange(true);
  }

  release(use: ByteUse, bytes: number): void {
    this.#uses[use] -= bytes;
    this.#bytes -= bytes;
    if (isDelivery(use)) this.#deliveryBytes -= bytes;
    if (this.#uses[use] === 0) this.#onUnused();
    if (this.#isDeliveryExhausted && this.#deliveryBytes <= (this.bytesMax / 2) * FREE_PART) {
      this.#isDeliveryExhausted = false;
      this.#tellFree();
    }
    if (this.#isExhausted && this.#bytes <= this.bytesMax * EXHAUSTED_PART * FREE_PART) {
      this.#isExhausted = false;
      this.#onChange(false);
      this.#tellFree();
    }
  }

  /** Resolves once nothing is held for this use. */
  async unused(use: ByteUse): Promise<void> {
    while (this.#uses[use] > 0)
      await new Promise<void>((resolve) => {
        this.#onUnused = resolve;
      });
  }

  whenFree(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #tellFree(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

function isDelivery(use: ByteUse): boolean {
  return use === "outbound" || use === "read-ahead" || use === "tracking";
}
