/** Samples that a page is sent when it comes: five minutes at two a second. */
export const SAMPLES_MAX = 600;

/** Characters of all samples; of a gateway with many topics fewer samples are kept. Some 32 MB at most. */
const CHARACTERS_MAX = 16_000_000;

/** The latest samples as JSON, so that a page that opens after an incident still shows it. */
export class LiveHistory {
  readonly #samples: string[] = [];
  #characters = 0;
  /** Samples that were dropped at the old end. */
  #dropped = 0;

  /** The number of the next sample; the first one is 0. */
  get end(): number {
    return this.#dropped + this.#samples.length;
  }

  get characters(): number {
    return this.#characters;
  }

  push(sample: string): void {
    this.#samples.push(sample);
    this.#characters += sample.length;
    while (
      this.#samples.length > SAMPLES_MAX ||
      (this.#characters > CHARACTERS_MAX && this.#samples.length > 1)
    ) {
      this.#characters -= this.#samples.shift()?.length ?? 0;
      this.#dropped++;
    }
  }

  /** At most `max` samples from the number `from` on, as far as they are kept, and the number after the last. */
  slice(from: number, max: number): { readonly samples: readonly string[]; readonly next: number } {
    const start = Math.max(0, from - this.#dropped);
    const samples = this.#samples.slice(start, start + max);
    return { samples, next: this.#dropped + start + samples.length };
  }
}
