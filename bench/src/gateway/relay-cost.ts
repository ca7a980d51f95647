import { percentile } from "../broker/percentile.ts";
import { startChild } from "./child.ts";
import type { Child } from "./child.ts";
import { Load } from "./load.ts";

export type Middle = "bare" | "none" | "limits";

export const MIDDLES: readonly Middle[] = ["bare", "none", "limits"];

export interface RelayCost {
  /** Messages of 1 KiB for each second of the middle process' CPU, one number for each turn. */
  readonly perCpuSecond: readonly number[];
  /** From SEND to receipt at half of the goal's rate, milliseconds. */
  readonly p99Ms: number;
}

export interface RelayLoad {
  readonly turns: number;
  readonly messagesPerTurn: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * What one process costs that stands between a producer and a broker which stores nothing. All kinds of
 * it run at the same time and are measured in turn, so that a machine which gets slower does so for all.
 */
export async function relayCosts(load: RelayLoad): Promise<Record<Middle, RelayCost>> {
  const sink = await startChild("sink-child.js", []);
  const paths = new Map<Middle, Path>();
  try {
    for (const middle of MIDDLES) paths.set(middle, await Path.open(middle, sink.port));
    // Compiles all sides before anything is measured.
    for (const path of paths.values()) await path.perCpuSecond(5 * load.messagesPerTurn);
    const rates: Record<Middle, number[]> = { bare: [], none: [], limits: [] };
    for (let turn = 0; turn < load.turns; turn++)
      for (const [middle, path] of paths)
        rates[middle].push(await path.perCpuSecond(load.messagesPerTurn));
    const costOf = async (middle: Middle): Promise<RelayCost> => ({
      perCpuSecond: rates[middle],
      p99Ms: (await paths.get(middle)?.p99Ms(load)) ?? 0,
    });
    return {
      bare: await costOf("bare"),
      none: await costOf("none"),
      limits: await costOf("limits"),
    };
  } finally {
    for (const path of paths.values()) await path.close();
    await sink.close();
  }
}

/** A producer, and the process that stands between it and the broker. */
class Path {
  readonly #between: Child;
  readonly #load: Load;

  private constructor(between: Child, load: Load) {
    this.#between = between;
    this.#load = load;
  }

  static async open(middle: Middle, sinkPort: number): Promise<Path> {
    const between = await startChild("middle-child.js", [middle, `${sinkPort}`]);
    return new Path(between, await Load.open(between.port));
  }

  async perCpuSecond(messages: number): Promise<number> {
    const before = await this.#between.cpuMs();
    await this.#load.publish(messages);
    return (messages / ((await this.#between.cpuMs()) - before)) * 1000;
  }

  async p99Ms({ perSecond, seconds }: RelayLoad): Promise<number> {
    return percentile(await this.#load.latenciesMs(perSecond, seconds), 0.99);
  }

  async close(): Promise<void> {
    this.#load.close();
    await this.#between.close();
  }
}
