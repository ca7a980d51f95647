import { FixedLimit } from "@sluice/core";
import { spreadOf } from "../spread.ts";
import { measure } from "./measure.ts";
import type { Contender, Measures } from "./measure.ts";
import { PacedLimit } from "./paced.ts";
import type { Workload } from "./workloads.ts";

/** The best fixed setting, found by trying them all on the same seeds. */
export interface Oracle {
  /** Its limit for each client, or its pace. */
  readonly setting: string;
  readonly bySeed: ReadonlyMap<number, Measures>;
}

const LIMIT_MAX = 200;
const LIMITS = [
  1,
  2,
  3,
  4,
  5,
  6,
  8,
  10,
  12,
  15,
  18,
  20,
  22,
  25,
  30,
  35,
  40,
  45,
  50,
  60,
  80,
  100,
  140,
  LIMIT_MAX,
];

/**
 * Beyond the best limit it only gets worse: once goodput is below half of the best, or half of the
 * attempts are in vain, the rest is left out.
 */
const GOODPUT_LEFT = 0.5;
const ATTEMPTS_PER_SUCCESS_MAX = 2;
/** So near to the best on the first seed, a setting is run on the others too. */
const WORTH_IT = 0.97;
/** So near to the best over all seeds, the lowest p99 wins. */
const TIE = 0.995;

interface Tried {
  readonly contender: Contender;
  readonly bySeed: Map<number, Measures>;
}

/** Sweeps fixed limits, and paces where the workload names some. */
export function findOracle(workload: Workload, seeds: readonly number[]): Oracle {
  const [first = 0, ...others] = seeds;
  const tried = [...sweepLimits(workload, first), ...pacesOf(workload).map(tryOn(workload, first))];
  const best = Math.max(...tried.map(goodputOf));
  const worthIt = tried.filter((each) => goodputOf(each) >= WORTH_IT * best);
  for (const { contender, bySeed } of worthIt) {
    for (const seed of others) bySeed.set(seed, measure(workload, contender, seed));
  }
  const most = Math.max(...worthIt.map(goodputOf));
  const [winner] = worthIt
    .filter((each) => goodputOf(each) >= TIE * most)
    .toSorted((a, b) => p99Of(a) - p99Of(b));
  if (winner === undefined) throw new Error(`nothing was served on ${workload.name}`);
  return { setting: winner.contender.name, bySeed: winner.bySeed };
}

function sweepLimits(workload: Workload, seed: number): Tried[] {
  const tried: Tried[] = [];
  let best = 0;
  for (const limit of LIMITS) {
    const each = tryOn(workload, seed)(fixed(limit));
    tried.push(each);
    best = Math.max(best, goodputOf(each));
    if (goodputOf(each) < GOODPUT_LEFT * best || isMostlyInVain(each, seed)) break;
  }
  return tried;
}

function isMostlyInVain({ bySeed }: Tried, seed: number): boolean {
  const { attempts, successes } = bySeed.get(seed) as Measures;
  return attempts > ATTEMPTS_PER_SUCCESS_MAX * successes;
}

function tryOn(workload: Workload, seed: number): (contender: Contender) => Tried {
  return (contender) => ({
    contender,
    bySeed: new Map([[seed, measure(workload, contender, seed)]]),
  });
}

function fixed(limit: number): Contender {
  return { name: String(limit), layering: "per-attempt", create: () => new FixedLimit(limit) };
}

function pacesOf({ pacesPerSecond }: Workload): Contender[] {
  return pacesPerSecond.map((pace) => ({
    name: `${pace}/s`,
    layering: "per-attempt",
    create: () => new PacedLimit(pace, LIMIT_MAX),
  }));
}

function goodputOf({ bySeed }: Tried): number {
  return spreadOf([...bySeed.values()].map(({ goodputPerSecond }) => goodputPerSecond)).median;
}

function p99Of({ bySeed }: Tried): number {
  return spreadOf([...bySeed.values()].map(({ p99Ms }) => p99Ms ?? 0)).median;
}
