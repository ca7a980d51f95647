import type { LiveSample } from "../../../src/live/live-message.ts";

/** Samples that the page keeps: five minutes at two a second. */
export const HISTORY_MAX = 600;
export const WINDOW_MS = 300_000;

/** The latest samples in the order of their time, bounded. */
export class History {
  #samples: LiveSample[] = [];

  /** Oldest first. */
  get samples(): readonly LiveSample[] {
    return this.#samples;
  }

  get latest(): LiveSample | undefined {
    return this.#samples.at(-1);
  }

  /** A sample that is not newer than the latest is of a connection that was made again, or of a clock that was set back. */
  add(sample: LiveSample): void {
    const latest = this.latest;
    if (latest !== undefined && sample.atMs <= latest.atMs)
      this.#samples = this.#samples.filter(({ atMs }) => atMs < sample.atMs);
    this.#samples.push(sample);
    if (this.#samples.length > HISTORY_MAX) this.#samples.shift();
  }

  /** Samples from before this page was opened, or from a time without a connection. */
  addPast(past: readonly LiveSample[]): void {
    const known = new Map(this.#samples.map((sample) => [sample.atMs, sample]));
    for (const sample of past) known.set(sample.atMs, sample);
    this.#samples = [...known.values()].toSorted((a, b) => a.atMs - b.atMs).slice(-HISTORY_MAX);
  }

  clear(): void {
    this.#samples = [];
  }

  /** The newest sample that is not newer than `atMs`; the oldest if all are. */
  at(atMs: number): LiveSample | undefined {
    let low = 0;
    let high = this.#samples.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#samples[middle]?.atMs ?? 0) <= atMs) low = middle;
      else high = middle - 1;
    }
    return this.#samples[low];
  }
}
