import { connect } from "@sluice/pulsar";
import { machineLine, thisMachine } from "../machine.ts";
import { roundsText } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { backlogRates } from "./backlog.ts";
import type { BacklogRates, Backlogs } from "./backlog.ts";
import { startBrokerProcess } from "./broker-process.ts";
import type { Storage } from "./broker-process.ts";
import { latencyP99Ms, throughput } from "./load.ts";
import type { Throughput } from "./load.ts";

/** Messages of 1 KiB a second, published in batches with receipts in hand: at least. */
const RATE_GOALS: Readonly<Record<Storage, number>> = { durable: 50_000, memory: 100_000 };

/** From sending to receiving, at half of the rate above, 99 of 100: less than. */
const LATENCY_GOAL_MS = 20;

/** Messages a second out of a backlog, with a receive queue of 1 ÷ of 1,000: at least. */
const BACKLOG_GOAL = 0.5;

interface Round extends Throughput {
  readonly p99Ms: number;
}

/** What one broker carries, with one client that publishes and consumes; the text to print. */
export async function benchBroker({ rounds, quick, json }: BenchOptions): Promise<string> {
  const topics = quick ? 1 : 4;
  const seconds = quick ? 1 : 5;
  const figures: Record<Storage, Round[]> = { durable: [], memory: [] };
  const backlogs: Backlogs[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    backlogs.push(await backlogRates());
    for (const storage of ["durable", "memory"] as const)
      figures[storage].push(await measureOne(storage, { topics, seconds }));
  }
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "broker", machine, rounds, figures, backlogs });
  const rows = (["durable", "memory"] as const).flatMap((storage) =>
    rowsOf(storage, figures[storage]),
  );
  const single = backlogs.map((each) => each.single);
  const batches = backlogs.map((each) => each.batches);
  rows.push(...backlogRows("backlog", single), ...backlogRows("backlog of batches", batches));
  return `${machineLine(machine)}\n\n${table(["", "", "measured", "goal", ""], rows)}`;
}

async function measureOne(
  storage: Storage,
  { topics, seconds }: { readonly topics: number; readonly seconds: number },
): Promise<Round> {
  const broker = await startBrokerProcess(storage);
  const client = await connect(broker.url);
  try {
    // Compiles both sides before anything is measured.
    await throughput(client, { topic: "warm-up", topics: 1 });
    const rates = await throughput(client, { topic: "full", topics });
    const perSecond = RATE_GOALS[storage] / 2;
    const p99Ms = await latencyP99Ms(client, { topic: "half", perSecond, seconds });
    return { ...rates, p99Ms };
  } finally {
    await client.close();
    await broker.close();
  }
}

function rowsOf(storage: Storage, all: readonly Round[]): string[][] {
  const p99s = all.map(({ p99Ms }) => p99Ms);
  const goal = RATE_GOALS[storage];
  const rate = (what: string, of: (round: Round) => number): string[] => {
    const values = all.map(of);
    const isMet = spreadOf(values).median >= goal;
    return [
      storage,
      what,
      roundsText(values, thousands),
      `≥ ${thousands(goal)}`,
      isMet ? "met" : "missed",
    ];
  };
  return [
    rate("published a second, receipts in hand", (round) => round.publishedPerSecond),
    rate("consumed a second", (round) => round.consumedPerSecond),
    rate("both at once, by one process", (round) => round.bothPerSecond),
    [
      storage,
      `publish to consume at ${thousands(goal / 2)} a second, p99`,
      roundsText(p99s, ms),
      `< ${ms(LATENCY_GOAL_MS)}`,
      spreadOf(p99s).median < LATENCY_GOAL_MS ? "met" : "missed",
    ],
  ];
}

function backlogRows(name: string, backlogs: readonly BacklogRates[]): string[][] {
  const ratios = backlogs.map(({ queueOf1, queueOf1000 }) => queueOf1 / queueOf1000);
  const rates = (what: string, of: (rates: BacklogRates) => number): string[] => [
    "durable",
    `${name} consumed a second, receive queue of ${what}`,
    roundsText(backlogs.map(of), thousands),
    "",
    "",
  ];
  return [
    rates("1", ({ queueOf1 }) => queueOf1),
    rates("1,000", ({ queueOf1000 }) => queueOf1000),
    [
      "durable",
      `${name}, receive queue of 1 ÷ of 1,000`,
      roundsText(ratios, (ratio) => ratio.toFixed(2)),
      `≥ ${BACKLOG_GOAL}`,
      spreadOf(ratios).median >= BACKLOG_GOAL ? "met" : "missed",
    ],
  ];
}

function thousands(value: number): string {
  return `${(value / 1000).toFixed(1)} k`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
