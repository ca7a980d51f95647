import { requireWhole } from "@sluice/core/internal";

/**
 * Counts the bytes of entries that are being stored, of all connections together. Above its bound
 * nobody is read; at half of it everybody is again.
 */
export class PublishMemory {
  readonly #bytesMax: number;
  readonly #onChange: (isFull: boolean) => void;
  #bytes = 0;
  #isFull = false;
  #onIdle: () => void = () => {};

  constructor(bytesMax: number, onChange: (isFull: boolean) => void) {
    requireWhole("publishBytesMax", bytesMax, 1);
    this.#bytesMax = bytesMax;
    this.#onChange = onChange;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Resolves once nothing is being stored. For one caller. */
  async idle(): Promise<void> {
    if (this.#bytes > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
  }

  reserve(bytes: number): void {
    this.#bytes += bytes;
    if (!this.#isFull && this.#bytes > this.#bytesMax) this.#change(true);
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#isFull && this.#bytes <= this.#bytesMax / 2) this.#change(false);
    if (this.#bytes === 0) this.#onIdle();
  }

  #change(isFull: boolean): void {
    this.#isFull = isFull;
    this.#onChange(isFull);
  }
}
