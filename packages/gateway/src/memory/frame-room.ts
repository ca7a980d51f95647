/** Waits until there is room for its frame. */
interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * Room for frames that arrive in pieces. A frame is admitted by its announced size before more than
 * its first piece is read, and then always read to its end. (If all were read as bytes come, many
 * half frames could fill the memory with none of them able to finish.)
 */
export class FrameRoom {
  readonly #bytesMax: number;
  readonly #waiters = new Set<Waiter>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether frames wait for room, so that those inside should hurry. */
  get isContended(): boolean {
    return this.#waiters.size > 0;
  }

  /**
   * Calls `enter` when there is room, perhaps at once, in the order of the calls. Answers how to
   * leave, or to stop waiting; to be called once.
   */
  request(bytes: number, enter: () => void): () => void {
    const waiter: Waiter = { bytes, enter };
    this.#waiters.add(waiter);
    this.#admit();
    return () => {
      if (!this.#waiters.delete(waiter)) this.#bytes -= bytes;
      this.#admit();
    };
  }

  #admit(): void {
    for (const waiter of this.#waiters) {
      // A frame larger than all the room is admitted alone.
      if (this.#bytes > 0 && this.#bytes + waiter.bytes > this.#bytesMax) return;
      this.#waiters.delete(waiter);
      this.#bytes += waiter.bytes;
      waiter.enter();
    }
  }
}
