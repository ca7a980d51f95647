import { machineLine, thisMachine } from "../machine.ts";
import { roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { accuracy } from "./accuracy.ts";
import type { Accuracy, AccuracyCase } from "./accuracy.ts";
import { MIDDLES, relayCosts } from "./relay-cost.ts";
import type { Middle, RelayCost, RelayLoad } from "./relay-cost.ts";

/** Messages of 1 KiB a second on one core: at least. Latency is measured at half of it. */
const RATE_GOAL = 100_000;
const OF_BARE_GOAL = 0.6;
const OF_NONE_GOAL = 0.97;
const ADDED_P99_GOAL_MS = 5;
const RATIO_GOAL = 0.02;
const SECOND_GOAL = 1.05;
const JAIN_GOAL = 0.99;

const CASES: readonly AccuracyCase[] = (["embedded", "relay"] as const).flatMap((upstream) =>
  [1, 10, 100].flatMap((producers) =>
    [false, true].flatMap((batching) =>
      [false, true].map((aware) => ({ upstream, producers, batching, aware })),
    ),
  ),
);

/** What a gateway costs, and how exact its limits are; the text to print. */
export async function benchGateway({ rounds, quick, json }: BenchOptions): Promise<string> {
  const costs: Record<Middle, RelayCost[]> = { bare: [], none: [], limits: [] };
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    const measured = await relayCosts(loadOf(quick));
    for (const middle of MIDDLES) costs[middle].push(measured[middle]);
  }
  const found: { readonly of: AccuracyCase; readonly measured: Accuracy }[] = [];
  for (const of of quick ? CASES.filter(({ producers }) => producers === 10) : CASES)
    found.push({ of, measured: await accuracy(of, quick ? 2 : 5) });
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "gateway", machine, rounds, costs, accuracy: found });
  const exactness = found.map(({ of, measured }) => accuracyRow(of, measured));
  return [
    machineLine(machine),
    "",
    "One connection, messages of 1 KiB, a broker behind that stores nothing; per second of the gateway's CPU",
    table(["", "measured", "goal", ""], costRows(costs)),
    "",
    "Accepted after the first second ÷ the limit of 2,000 messages/s, one topic, messages of 1 KiB",
    table(["", "accepted", "fullest second", "Jain", ""], exactness),
  ].join("\n");
}

function loadOf(quick: boolean): RelayLoad {
  return {
    turns: quick ? 5 : 15,
    messagesPerTurn: quick ? 10_000 : 40_000,
    perSecond: RATE_GOAL / 2,
    seconds: quick ? 1 : 5,
  };
}

function costRows(costs: Readonly<Record<Middle, readonly RelayCost[]>>): string[][] {
  const rates = (middle: Middle): number[] => costs[middle].flatMap((cost) => cost.perCpuSecond);
  const ratio = (middle: Middle, to: Middle): number[] =>
    rates(middle).map((rate, turn) => rate / (rates(to)[turn] as number));
  const added = costs.limits.map(
    ({ p99Ms }, round) => p99Ms - (costs.bare[round] as RelayCost).p99Ms,
  );
  return [
    ["bare frame relay, messages/s", roundsText(rates("bare"), thousands), "", ""],
    row("gateway, messages/s", rates("none"), thousands, RATE_GOAL, "≥"),
    row("gateway ÷ bare relay", ratio("none", "bare"), short, OF_BARE_GOAL, "≥"),
    row("limits configured, not hit ÷ none", ratio("limits", "none"), short, OF_NONE_GOAL, "≥"),
    row("p99 added to a bare relay's at 50 k/s, ms", added, short, ADDED_P99_GOAL_MS, "<"),
  ];
}

function row(
  name: string,
  values: readonly number[],
  text: (value: number) => string,
  goal: number,
  sign: "≥" | "<",
): string[] {
  const { median } = spreadOf(values);
  const isMet = sign === "≥" ? median >= goal : median < goal;
  return [name, roundsText(values, text), `${sign} ${text(goal)}`, isMet ? "met" : "missed"];
}

function accuracyRow(
  { upstream, producers, batching, aware }: AccuracyCase,
  { ratio, maxSecondRatio, jain }: Accuracy,
): string[] {
  const isMet =
    Math.abs(ratio - 1) <= RATIO_GOAL && maxSecondRatio <= SECOND_GOAL && jain >= JAIN_GOAL;
  const name = `${upstream}, ${producers} ${aware ? "aware" : "unaware"}, ${batching ? "batches" : "single"}`;
  return [
    name,
    ratio.toFixed(3),
    maxSecondRatio.toFixed(3),
    jain.toFixed(3),
    isMet ? "met" : "missed",
  ];
}

function thousands(value: number): string {
  return `${(value / 1000).toFixed(0)} k`;
}
