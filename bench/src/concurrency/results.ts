import { spreadOf } from "../spread.ts";
import type { Figures } from "./figures.ts";
import type { Oracle } from "./oracle.ts";
import type { Workload } from "./workloads.ts";

/** One limiter on one workload: figures by seed. */
export interface Entry {
  readonly limiter: string;
  readonly workload: string;
  readonly figures: readonly Figures[];
}

/** Everything that was measured in one run. */
export class Results {
  readonly workloads: readonly Workload[];
  readonly oracles: ReadonlyMap<string, Oracle>;
  readonly entries: readonly Entry[];

  constructor(
    workloads: readonly Workload[],
    oracles: ReadonlyMap<string, Oracle>,
    entries: readonly Entry[],
  ) {
    this.workloads = workloads;
    this.oracles = oracles;
    this.entries = entries;
  }

  get limiters(): readonly string[] {
    return [...new Set(this.entries.map(({ limiter }) => limiter))];
  }

  /** A figure by seed, without the seeds for which there is none. */
  bySeed(limiter: string, workload: string, name: keyof Figures): readonly number[] {
    const entry = this.entries.find(
      (each) => each.limiter === limiter && each.workload === workload,
    );
    if (entry === undefined) throw new Error(`${limiter} did not run on ${workload}`);
    return entry.figures.map((figures) => figures[name]).filter((value) => value !== undefined);
  }

  /** The median over the seeds; undefined if there is none. */
  median(limiter: string, workload: string, name: keyof Figures): number | undefined {
    const values = this.bySeed(limiter, workload, name);
    return values.length === 0 ? undefined : spreadOf(values).median;
  }

  /** The median of goodput. */
  goodput(limiter: string, workload: string): number {
    return this.median(limiter, workload, "goodput") ?? 0;
  }

  /** Of the medians over all workloads; 0 if nothing at all was served on one. */
  geomean(limiter: string): number {
    const logs = this.workloads.map(({ name }) => Math.log(this.goodput(limiter, name)));
    return Math.exp(logs.reduce((sum, each) => sum + each, 0) / logs.length);
  }
}
