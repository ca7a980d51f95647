import { SluiceLimit } from "@sluice/core";
import { thisMachine } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { runContest } from "./contest.ts";
import { judge } from "./goals.ts";
import type { Contender } from "./measure.ts";
import { PEERS, PEERS_AS_SHIPPED } from "./peers/peers.ts";
import { report } from "./report.ts";
import { judgeTrials } from "./trials.ts";
import { WORKLOADS } from "./workloads.ts";
import type { Workload } from "./workloads.ts";

const OURS: Contender = {
  name: "sluice",
  layering: "per-attempt",
  create: (random) => new SluiceLimit({ random }),
};

/** The seed of the first round; the others are its multiples. */
const SEED = 11;

/** Where those who do not see refusals send tens of thousands a second. */
const STORMY = new Set(["W2b", "W8"]);
const STORMY_QUICK_S = 20;

/** How near limiters come to the best fixed limit, as the text to print. */
export function benchConcurrency(options: BenchOptions): Promise<string> {
  const { rounds, quick, json, shipped } = options;
  const seeds = Array.from({ length: rounds }, (_, round) => SEED * (round + 1));
  const workloads = quick ? WORKLOADS.map(shorter) : WORKLOADS;
  const peers = shipped ? PEERS_AS_SHIPPED : PEERS;
  const results = runContest(workloads, [OURS, ...peers], seeds);
  const goals = [...judge(results, OURS.name), ...judgeTrials(OURS, seeds)];
  const machine = thisMachine();
  if (json) {
    const oracles = [...results.oracles].map(([workload, { setting }]) => ({ workload, setting }));
    const { entries } = results;
    return Promise.resolve(
      JSON.stringify({ bench: "concurrency", machine, seeds, shipped, oracles, entries, goals }),
    );
  }
  const bounds = shipped ? "with the bounds that they are shipped with" : "free from 1 to 200";
  return Promise.resolve(report({ machine, seeds, bounds }, results, goals));
}

function shorter(workload: Workload): Workload {
  return STORMY.has(workload.name) ? { ...workload, durationS: STORMY_QUICK_S } : workload;
}
