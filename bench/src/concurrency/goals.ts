import { roundsText } from "../numbers.ts";
import { spreadOf } from "../spread.ts";
import type { Figures } from "./figures.ts";
import type { Results } from "./results.ts";

export interface Judged {
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

const GEOMEAN = 0.92;
const GOODPUT_MIN = 0.75;
/** Behind the best peer of a workload by at most so much. */
const BEHIND_MAX = 0.03;
const ATTEMPTS_MAX = 1.1;

const LATENCY_GOALS: ReadonlyMap<string, number> = new Map([
  ["W5", 1.5],
  ["W5b", 1.5],
  ["W8", 1.5],
  ["W7", 2],
  ["W10", 2],
  ["W11", 2],
]);

/** The goals of `ours`, each judged by medians over the seeds. */
export function judge(results: Results, ours: string): readonly Judged[] {
  const peers = results.limiters.filter((limiter) => limiter !== ours);
  const latencies = [...LATENCY_GOALS].map(([workload, goal]) =>
    atMost(goal, `L, ${workload}`, of(workload, "latency")),
  );
  return [
    ...goodputGoals(results, ours, peers),
    ...latencies,
    worstAttempts(results, ours),
    atMost(3, "T, W1, seconds", of("W1", "settledAfterS")),
    atMost(3, "R, W6, seconds", of("W6", "recoveryS")),
    atLeast(0.95, "J, W10", of("W10", "jain")),
    atLeast(0.95, "J, W11", of("W11", "jain")),
  ];

  function of(workload: string, name: keyof Figures): readonly number[] {
    return results.bySeed(ours, workload, name);
  }
}

function goodputGoals(results: Results, ours: string, peers: readonly string[]): Judged[] {
  const geomean = results.geomean(ours);
  const [bestPeer = ""] = peers.toSorted((a, b) => results.geomean(b) - results.geomean(a));
  const best = results.geomean(bestPeer);
  const goodputs = results.workloads.map(({ name }) => {
    const goodput = results.goodput(ours, name);
    const behind = Math.max(...peers.map((peer) => results.goodput(peer, name))) - goodput;
    return { name, goodput, behind };
  });
  const [lowest] = goodputs.toSorted((a, b) => a.goodput - b.goodput);
  const byBehind = goodputs.toSorted((a, b) => b.behind - a.behind);
  const tooFar = byBehind.filter(({ behind }) => behind > BEHIND_MAX);
  if (lowest === undefined) return [];
  return [
    {
      what: "G, geometric mean",
      goal: `≥ ${GEOMEAN}`,
      measured: geomean.toFixed(3),
      met: geomean >= GEOMEAN,
    },
    {
      what: `G, geometric mean − the best peer's (${bestPeer})`,
      goal: "> 0",
      measured: (geomean - best).toFixed(3),
      met: geomean > best,
    },
    {
      what: "G, lowest of a workload",
      goal: `≥ ${GOODPUT_MIN}`,
      measured: `${lowest.goodput.toFixed(3)} (${lowest.name})`,
      met: lowest.goodput >= GOODPUT_MIN,
    },
    {
      what: "G, behind the best peer of a workload",
      goal: `≤ ${BEHIND_MAX}`,
      measured: (tooFar.length > 0 ? tooFar : byBehind.slice(0, 1))
        .map(({ name, behind }) => `${behind.toFixed(3)} (${name})`)
        .join(", "),
      met: tooFar.length === 0,
    },
  ];
}

/** The worst workload, judged by its median. */
function worstAttempts(results: Results, ours: string): Judged {
  const [worst] = results.workloads
    .map(({ name }) => ({ name, values: results.bySeed(ours, name, "attemptsPerSuccess") }))
    .toSorted((a, b) => spreadOf(b.values).median - spreadOf(a.values).median);
  return atMost(ATTEMPTS_MAX, `A, worst workload (${worst?.name ?? ""})`, worst?.values ?? []);
}

export function atLeast(goal: number, what: string, values: readonly number[]): Judged {
  const met = values.length > 0 && spreadOf(values).median >= goal;
  return { what, goal: `≥ ${goal}`, measured: textOf(values), met };
}

export function atMost(goal: number, what: string, values: readonly number[]): Judged {
  const met = values.length > 0 && spreadOf(values).median <= goal;
  return { what, goal: `≤ ${goal}`, measured: textOf(values), met };
}

function textOf(values: readonly number[]): string {
  return values.length === 0 ? "none" : roundsText(values, (value) => value.toFixed(2));
}
