import { SeededRandom } from "@sluice/core";
import { cpuMsOf } from "./measure.ts";
import type { Loop } from "./measure.ts";
import { short } from "./numbers.ts";
import type { Figures } from "./run-cases.ts";
import { spreadOf } from "./spread.ts";

export interface Blocks {
  /** CPU time that one slice takes, about. */
  readonly sliceMs: number;
  readonly blocks: number;
  /**
   * Operations of each loop, twice, before the first block: until V8 has compiled them. Calls of a gate took up to
   * 100 times as long among the first 4000.
   * @default 5000
   */
  readonly warmUp?: number;
}

const THOUSAND = 1000;

/**
 * CPU time per operation in µs of each loop, by block. For small differences of large times: within a block
 * every loop has two slices in mirrored order (ABC CBA), so that a drift of the processor's speed meets all
 * loops alike, and the difference of two loops is taken within the block. The loop that begins changes from
 * block to block.
 */
export async function measurePaired<Name extends string>(
  loops: Readonly<Record<Name, Loop>>,
  { sliceMs, blocks, warmUp = 5000 }: Blocks,
): Promise<Record<Name, readonly number[]>> {
  const names = Object.keys(loops) as Name[];
  const timesUs = Object.fromEntries(names.map((name): [string, number[]] => [name, []])) as Record<
    Name,
    number[]
  >;
  let warmMs = 0;
  for (const name of [...names, ...names]) warmMs = await cpuMsOf(loops[name], warmUp);
  // Loops that work in batches take multiples of a thousand.
  const wanted = (sliceMs * warmUp) / warmMs;
  const count = wanted > THOUSAND ? Math.ceil(wanted / THOUSAND) * THOUSAND : Math.ceil(wanted);
  for (let block = 0; block < blocks; block++) {
    const first = block % names.length;
    const order = [...names.slice(first), ...names.slice(0, first)];
    const totalsMs = new Map<Name, number>();
    for (const name of [...order, ...order.toReversed()])
      totalsMs.set(name, (totalsMs.get(name) ?? 0) + (await cpuMsOf(loops[name], count)));
    for (const [name, totalMs] of totalsMs) timesUs[name].push((totalMs * 1000) / (2 * count));
  }
  return timesUs;
}

/** The times as figures that a child process can print: `name block`. */
export function figuresOf(timesUs: Readonly<Record<string, readonly number[]>>): Figures {
  return Object.fromEntries(
    Object.entries(timesUs).flatMap(([name, all]) =>
      all.map((timeUs, block): [string, number] => [`${name} ${block}`, timeUs]),
    ),
  );
}

/** The times of one loop in all blocks of all rounds. */
export function blocksOf(name: string, rounds: readonly Figures[]): number[] {
  return rounds.flatMap((figures) =>
    Object.entries(figures)
      .filter(([key]) => key.startsWith(`${name} `))
      .map(([, timeUs]) => timeUs),
  );
}

/** A median with its 95 % confidence interval. */
export interface Interval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The interval is between two order statistics, n ÷ 2 ± 0.98 √n, so it supposes nothing about how the values are
 * distributed. For ten values and more.
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (rank: number): number =>
    sorted[Math.min(sorted.length - 1, Math.max(0, rank))] as number;
  const half = sorted.length / 2;
  const spread = 0.98 * Math.sqrt(sorted.length);
  return {
    median: medianOf(values),
    low: at(Math.floor(half - spread) - 1),
    high: at(Math.ceil(half + spread)),
  };
}

const RESAMPLES = 1000;

/**
 * The median of `values` ÷ the median of `others`, block by block, with its 95 % interval by bootstrap: blocks are
 * drawn with replacement. A median of quotients would be off where `others` are as small as their noise.
 */
export function ratioInterval(values: readonly number[], others: readonly number[]): Interval {
  const random = new SeededRandom(1);
  const ratios = Array.from({ length: RESAMPLES }, () => {
    const drawn = values.map(() => Math.floor(random.next() * values.length));
    return (
      medianOf(drawn.map((block) => values[block] as number)) /
      medianOf(drawn.map((block) => others[block] as number))
    );
  }).toSorted((a, b) => a - b);
  return {
    median: medianOf(values) / medianOf(others),
    low: ratios[Math.floor(0.025 * RESAMPLES)] as number,
    high: ratios[Math.floor(0.975 * RESAMPLES)] as number,
  };
}

function medianOf(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** `median (low..high)`. */
export function intervalText({ median, low, high }: Interval): string {
  return `${short(median)} (${short(low)}..${short(high)})`;
}

/** Whether the interval is on the right side of the goal; `unclear` if the goal is within it. */
export function judged({ low, high }: Interval, most: number): "met" | "missed" | "unclear" {
  if (high <= most) return "met";
  return low > most ? "missed" : "unclear";
}
