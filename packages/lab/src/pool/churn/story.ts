import { SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { DEFAULT_TIMING } from "@sluice/fleet/sim";
import type { MemberRules } from "@sluice/fleet/sim";
import type { Network } from "../network.ts";
import type { PoolAction, PoolEvent } from "../pool-action.ts";
import { runPool } from "../pool-run.ts";
import type { SluiceParts } from "../sluice/sluice-protocol.ts";

/** What happens to a pool that was settled before, and for how long the pool is measured. */
export interface ChurnPlan {
  /** The members that the pool has before the story begins; 0: a cold start. */
  readonly members: number;
  /** Times count from the beginning of the story. */
  readonly events: readonly PoolEvent[];
  readonly forMs: number;
  /** From the beginning of the story to the beginning of what is measured. Default: 0. */
  readonly measureAfterMs?: number;
  readonly membership?: Partial<MemberRules>;
  /** Tokens per second of the pool. Shares do not depend on it, but demand is whole tokens. Default: 100. */
  readonly ceiling?: number;
  /** Default: each way takes 0.2 to 4.2 ms. */
  readonly network?: Network;
}

/** Bounds on the figures of a story, the worst of all phases. Sums are parts of the ceiling. */
export interface ChurnGoals {
  /** The largest sum at any instant. Default: 1. */
  readonly most?: number;
  /** The least sum at any instant, and the mean of the sum. */
  readonly least?: number;
  readonly mean?: number;
  /** The longest time of a joiner to 90 % of its fair share. */
  readonly waitS?: number;
  /** The time until the sum is the whole ceiling again, and stays so. */
  readonly wholeS?: number;
}

/** A story of processes that come and go. */
export interface ChurnStory {
  readonly name: string;
  readonly goals: ChurnGoals;
  readonly plan: (random: Random) => ChurnPlan;
}

/** What a story came to, in the units of its goals. */
export type ChurnFigures = Readonly<Required<ChurnGoals>>;

/** Tokens per second, if a story does not say. A small one makes a run short. */
const CEILING = 100;
/** By then a pool that started cold is settled: learning takes 6 s, hand-overs 2 s. */
const SETTLED_MS = 20_000;

const LOCAL: Network = { wayMs: (random) => 0.2 + 4 * random.next(), isOrdered: true };

/** One run of a story. The phase is the seed of all instants that the story leaves open. */
export function runStory(story: ChurnStory, phase: number, parts?: SluiceParts): ChurnFigures {
  const random = new SeededRandom(phase);
  const plan = story.plan(random);
  const { members, events, forMs, measureAfterMs = 0, membership, network } = plan;
  const { ceiling: max = CEILING } = plan;
  const timing = membership?.timing ?? DEFAULT_TIMING;
  const beginMs = members === 0 ? 0 : (SETTLED_MS * timing.leaseMs) / DEFAULT_TIMING.leaseMs;
  const before = joins("m", members, () => random.next() * timing.syncIntervalMs);
  const after = events.map(({ atMs, action }) => ({ atMs: beginMs + atMs, action }));
  const untilMs = beginMs + forMs;
  const { figures } = runPool({
    protocol: "sluice",
    rules: {
      rateLimit: { max, min: max, rampUpMs: SECOND_MS, mode: { kind: "relaxed" } },
      pacing: "smooth",
      division: "rotate",
    },
    membership: {
      timing,
      maxMembers: 64,
      onStoreLoss: "safe-share",
      joinOn: "agreement",
      share: "demand",
      needsRank: false,
      ...membership,
    },
    network: network ?? LOCAL,
    events: [...before, ...after].toSorted((a, b) => a.atMs - b.atMs),
    untilMs,
    seed: phase,
    measured: { fromMs: beginMs + measureAfterMs, untilMs },
    ...(parts === undefined ? {} : { parts }),
  });
  return {
    most: figures.most,
    least: figures.least ?? 0,
    mean: figures.mean ?? 0,
    waitS: figures.waitMs / SECOND_MS,
    wholeS: figures.wholeAfterMs / SECOND_MS,
  };
}

/** The worst figures of the phases 1 to `phases`. */
export function worstOf(story: ChurnStory, phases: number, parts?: SluiceParts): ChurnFigures {
  const all = Array.from({ length: phases }, (_, i) => runStory(story, i + 1, parts));
  return {
    most: Math.max(...all.map(({ most }) => most)),
    least: Math.min(...all.map(({ least }) => least)),
    mean: Math.min(...all.map(({ mean }) => mean)),
    waitS: Math.max(...all.map(({ waitS }) => waitS)),
    wholeS: Math.max(...all.map(({ wholeS }) => wholeS)),
  };
}

/** Sums of shares end a little beside the ceiling. */
const TINY = 1e-6;

/** The goals that were missed, each as one line. */
export function missedGoals({ goals }: ChurnStory, figures: ChurnFigures): string[] {
  const { most = 1, least, mean, waitS, wholeS } = goals;
  const missed: string[] = [];
  const note = (name: string, found: number, goal: number | undefined, isMet: boolean): void => {
    if (goal !== undefined && !isMet) missed.push(`${name} ${found.toFixed(3)}, goal ${goal}`);
  };
  note("most", figures.most, most, figures.most <= most + TINY);
  note("least", figures.least, least, figures.least >= (least ?? 0) - TINY);
  note("mean", figures.mean, mean, figures.mean >= (mean ?? 0) - TINY);
  note("wait", figures.waitS, waitS, figures.waitS <= (waitS ?? Infinity));
  note("whole", figures.wholeS, wholeS, figures.wholeS <= (wholeS ?? Infinity));
  return missed;
}

/** Processes that join, the first of them called `m0` for the prefix `m`. */
export function joins(
  prefix: string,
  count: number,
  atMs: (index: number) => number,
  asksPerSecond?: number,
): PoolEvent[] {
  return Array.from({ length: count }, (_, i) =>
    at(atMs(i), { do: "join", id: `${prefix}${i}`, asksPerSecond }),
  );
}

export function at(atMs: number, action: PoolAction): PoolEvent {
  return { atMs, action };
}
