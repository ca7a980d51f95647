import { SLICES_PER_SECOND } from "./measure.ts";
import type { Measures } from "./measure.ts";
import type { Workload } from "./workloads.ts";

/** How one limiter did on one workload and one seed, beside the oracle on the same seed. */
export interface Figures {
  /** Goodput ÷ the oracle's, with the cold start; 1 at most. */
  readonly goodput: number;
  /** p99 ÷ the oracle's after the warm-up; undefined if nothing was served. */
  readonly latency: number | undefined;
  readonly attemptsPerSuccess: number;
  /** The second from which goodput never again falls below 90 % of the oracle's; the whole run if none. */
  readonly settledAfterS: number;
  readonly jain: number;
  /**
   * The longest, over the steps of the service, until a second begins with 90 % of the oracle's
   * goodput; the whole time to the next step if none does. 0 if there are no steps.
   */
  readonly recoveryS: number;
}

/** So much of the oracle's goodput is being there. */
const THERE = 0.9;

export function figuresOf(workload: Workload, own: Measures, oracle: Measures): Figures {
  const { p99Ms } = own;
  const perSecond = THERE * oracle.goodputPerSecond;
  return {
    goodput: Math.min(1, own.goodputPerSecond / oracle.goodputPerSecond),
    latency: p99Ms === undefined ? undefined : p99Ms / (oracle.p99Ms ?? p99Ms),
    attemptsPerSuccess: own.attempts / Math.max(1, own.successes),
    settledAfterS: settledAfterS(own.okPerSlice, perSecond, workload.durationS),
    jain: own.jain,
    recoveryS: Math.max(
      0,
      ...phasesOf(workload).map((phase) => {
        const { fromS, untilS } = phase;
        const target = (THERE * served(oracle.okPerSlice, fromS, untilS)) / (untilS - fromS);
        return reachedAfterS(own.okPerSlice, target, phase);
      }),
    ),
  };
}

interface Phase {
  readonly fromS: number;
  readonly untilS: number;
}

function phasesOf({ stepsS, durationS }: Workload): readonly Phase[] {
  return stepsS.map((fromS, i) => ({ fromS, untilS: stepsS[i + 1] ?? durationS }));
}

function settledAfterS(slices: readonly number[], perSecond: number, durationS: number): number {
  let fromS = durationS;
  while (fromS > 0 && served(slices, fromS - 1, fromS) >= perSecond) fromS--;
  return fromS;
}

function reachedAfterS(slices: readonly number[], perSecond: number, phase: Phase): number {
  const { fromS, untilS } = phase;
  for (let slice = 0; slice < (untilS - fromS - 1) * SLICES_PER_SECOND; slice++) {
    const afterS = slice / SLICES_PER_SECOND;
    if (served(slices, fromS + afterS, fromS + afterS + 1) >= perSecond) return afterS;
  }
  return untilS - fromS;
}

function served(slices: readonly number[], fromS: number, untilS: number): number {
  let total = 0;
  for (const ok of slices.slice(sliceAt(fromS), sliceAt(untilS))) total += ok;
  return total;
}

function sliceAt(second: number): number {
  return Math.round(second * SLICES_PER_SECOND);
}
