/** Those who wait for tokens, first come, first served. Leaving is cheap, from anywhere. */
export class WaiterQueue<W> {
  readonly #waiting = new Set<W>();

  get size(): number {
    return this.#waiting.size;
  }

  get first(): W | undefined {
    for (const waiting of this.#waiting) return waiting;
    return undefined;
  }

  join(waiting: W): void {
    this.#waiting.add(waiting);
  }

  /** False if it was not, or no longer, in the line. */
  leave(waiting: W): boolean {
    return this.#waiting.delete(waiting);
  }
}
