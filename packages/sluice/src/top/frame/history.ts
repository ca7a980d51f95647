/** Samples of a row: two for each second of the last minute. */
const SAMPLES_MAX = 120;
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇"] as const;

/** Rates of the last minute, by row. Rows that are gone are forgotten. */
export class TopHistory {
  #samples: ReadonlyMap<string, readonly number[]> = new Map();

  add(rows: readonly { readonly key: string; readonly perSecond: number }[]): void {
    const before = this.#samples;
    this.#samples = new Map(
      rows.map(({ key, perSecond }) => [
        key,
        [...(before.get(key) ?? []), perSecond].slice(-SAMPLES_MAX),
      ]),
    );
  }

  clear(): void {
    this.#samples = new Map();
  }

  /** A line of at most `width` bars, the newest at the right: the mean of their samples against the highest. */
  bars(key: string, width: number): string {
    const samples = this.#samples.get(key) ?? [];
    const highest = Math.max(0, ...samples);
    if (highest === 0) return "";
    const size = Math.ceil(samples.length / width);
    const bars: string[] = [];
    for (let end = samples.length; end > 0; end -= size) {
      const part = samples.slice(Math.max(0, end - size), end);
      const mean = part.reduce((sum, one) => sum + one, 0) / part.length;
      bars.unshift(BARS[Math.round((mean / highest) * (BARS.length - 1))] ?? BARS[0]);
    }
    return bars.join("");
  }
}
