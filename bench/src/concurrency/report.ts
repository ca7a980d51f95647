import { machineLine } from "../machine.ts";
import type { Machine } from "../machine.ts";
import { short, spreadText } from "../numbers.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { ATTEMPTS_MAX } from "./contest.ts";
import type { Judged } from "./goals.ts";
import type { Results } from "./results.ts";

const LATENCY_WORKLOADS = ["W5", "W5b", "W7", "W8", "W10", "W11"];

/** What a run is made of, for its first lines. */
export interface RunText {
  readonly machine: Machine;
  readonly seeds: readonly number[];
  /** The bounds of the peers. */
  readonly bounds: string;
}

/** The run as text for a terminal. */
export function report(run: RunText, results: Results, goals: readonly Judged[]): string {
  return [
    machineLine(run.machine),
    `Virtual time; medians over the seeds ${run.seeds.join(", ")}; peers ${run.bounds}.`,
    workloadsTable(results),
    `G: goodput ÷ oracle's, with the cold start, 1 at most\n${goodputTable(results)}`,
    [
      "L: p99 ÷ oracle's after the warm-up; A: attempts per success, on the worst workload;",
      "T: seconds until goodput stays at 90 % of the oracle's, 60 if never; R: until it is back there",
      "after a step, 20 if never; J: Jain's index of the clients' goodput after the warm-up",
      otherTable(results),
    ].join("\n"),
    `Goals; median (min..max) over the seeds\n${goalsTable(goals)}`,
    ...shortenedText(results, run.seeds),
  ].join("\n\n");
}

function workloadsTable({ workloads, oracles }: Results): string {
  const rows = workloads.map(({ name, what, durationS }) => {
    const oracle = oracles.get(name);
    const measures = [...(oracle?.bySeed.values() ?? [])];
    const goodput = spreadOf(measures.map(({ goodputPerSecond }) => goodputPerSecond));
    const p99 = spreadOf(measures.map(({ p99Ms }) => p99Ms ?? 0));
    return [
      `${name}, ${what}`,
      String(durationS),
      oracle?.setting ?? "",
      spreadText(goodput, short),
      spreadText(p99, short),
    ];
  });
  return table(["", "seconds", "oracle", "its goodput/s", "its p99, ms"], rows);
}

function goodputTable(results: Results): string {
  const names = results.workloads.map(({ name }) => name);
  const rows = results.limiters.map((limiter) => {
    const goodputs = names.map((name) => results.goodput(limiter, name));
    const figures = [...goodputs, results.geomean(limiter), Math.min(...goodputs)];
    return [limiter, ...figures.map((each) => each.toFixed(2))];
  });
  return table(["", ...names, "geomean", "min"], rows);
}

function otherTable(results: Results): string {
  const latencies = LATENCY_WORKLOADS.map((name) => `L ${name}`);
  const rows = results.limiters.map((limiter) => [
    limiter,
    ...LATENCY_WORKLOADS.map((name) => {
      const latency = results.median(limiter, name, "latency");
      return latency === undefined ? "none" : latency.toFixed(2);
    }),
    worstAttempts(results, limiter),
    (results.median(limiter, "W1", "settledAfterS") ?? 0).toFixed(1),
    (results.median(limiter, "W6", "recoveryS") ?? 0).toFixed(1),
    (results.median(limiter, "W10", "jain") ?? 0).toFixed(2),
    (results.median(limiter, "W11", "jain") ?? 0).toFixed(2),
  ]);
  return table(["", ...latencies, "A", "T W1", "R W6", "J W10", "J W11"], rows);
}

function worstAttempts(results: Results, limiter: string): string {
  const [worst] = results.workloads
    .map(({ name }) => ({ name, value: results.median(limiter, name, "attemptsPerSuccess") ?? 0 }))
    .toSorted((a, b) => b.value - a.value);
  return worst === undefined ? "" : `${short(worst.value)} (${worst.name})`;
}

function goalsTable(goals: readonly Judged[]): string {
  const rows = goals.map(({ what, goal, measured, met }) => [
    what,
    goal,
    measured,
    met ? "met" : "missed",
  ]);
  return table(["", "goal", "measured", ""], rows);
}

function shortenedText({ entries }: Results, seeds: readonly number[]): string[] {
  const shortened = entries.filter(({ figures }) => figures.length < seeds.length);
  if (shortened.length === 0) return [];
  const names = shortened.map(({ limiter, workload }) => `${limiter} on ${workload}`).join(", ");
  return [`More than ${ATTEMPTS_MAX / 1e6} million attempts, so one seed only: ${names}.`];
}
