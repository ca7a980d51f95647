/** Runs one thing after the other, whatever became of the one before. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves once all that was given before is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
