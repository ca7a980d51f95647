import type { LiveSample } from "../../../src/live/live-message.ts";

type Get = (sample: LiveSample) => number | undefined;

/**
 * The values of a chart's series in the samples that it shows. Samples come and go at the ends: only the values of a new
 * sample are looked up. The lists are changed in place with the next call.
 */
export class Columns {
  readonly #gets: readonly Get[];
  #samples: readonly LiveSample[] = [];
  #times: number[] = [];
  #values: (number | null)[][];

  constructor(gets: readonly Get[]) {
    this.#gets = gets;
    this.#values = gets.map(() => []);
  }

  /** The times of the samples, then the values of each series; null where a sample has none. */
  of(samples: readonly LiveSample[]): [number[], ...(number | null)[][]] {
    const dropped = this.#dropped(samples);
    const kept = this.#samples.length - dropped;
    this.#times.splice(0, dropped);
    for (const values of this.#values) values.splice(0, dropped);
    for (const sample of samples.slice(kept)) {
      this.#times.push(sample.atMs);
      for (const [index, get] of this.#gets.entries())
        this.#values[index]?.push(get(sample) ?? null);
    }
    this.#samples = samples;
    return [this.#times, ...this.#values];
  }

  /** How many of the samples before are gone at the old end; all of them if the past is another one. */
  #dropped(samples: readonly LiveSample[]): number {
    const before = this.#samples;
    const [first] = samples;
    const from = first === undefined ? -1 : before.indexOf(first);
    const isSame = from >= 0 && samples[before.length - from - 1] === before.at(-1);
    return isSame ? from : before.length;
  }
}
