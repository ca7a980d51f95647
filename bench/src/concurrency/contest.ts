import { figuresOf } from "./figures.ts";
import type { Figures } from "./figures.ts";
import { measure } from "./measure.ts";
import type { Contender } from "./measure.ts";
import { findOracle } from "./oracle.ts";
import type { Oracle } from "./oracle.ts";
import { Results } from "./results.ts";
import type { Workload } from "./workloads.ts";

/** A limiter that sends more attempts than this in one run gets no other seed: each takes a minute. */
export const ATTEMPTS_MAX = 1_000_000;

/** Runs the oracle's sweep and then every limiter, on every workload and seed. */
export function runContest(
  workloads: readonly Workload[],
  contenders: readonly Contender[],
  seeds: readonly number[],
): Results {
  const oracles = new Map(workloads.map((each) => [each.name, findOracle(each, seeds)]));
  const entries = workloads.flatMap((workload) =>
    contenders.map((contender) => ({
      limiter: contender.name,
      workload: workload.name,
      figures: runSeeds(workload, contender, oracles.get(workload.name)),
    })),
  );
  return new Results(workloads, oracles, entries);
}

function runSeeds(
  workload: Workload,
  contender: Contender,
  oracle: Oracle | undefined,
): readonly Figures[] {
  const figures: Figures[] = [];
  for (const [seed, best] of oracle?.bySeed ?? []) {
    const measures = measure(workload, contender, seed);
    figures.push(figuresOf(workload, measures, best));
    if (measures.attempts > ATTEMPTS_MAX) break;
  }
  return figures;
}
