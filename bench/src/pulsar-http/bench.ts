import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "@sluice/pulsar";
import { startBrokerProcess } from "../broker/broker-process.ts";
import { machineLine, thisMachine } from "../machine.ts";
import { roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { handWritten, orderOf, withPipeline } from "./loops.ts";
import type { Ends, Run } from "./loops.ts";

/** Messages a second through a pipeline ÷ through a hand-written loop: at least. */
const GOAL = 0.7;

const CASES: Readonly<Record<string, (ends: Ends) => Promise<Run>>> = {
  "hand-written loop": handWritten,
  pipeline: withPipeline(),
  "pipeline, adaptive": withPipeline("adaptive"),
};

/** Turns of each case within a round; the best counts, because neighbours only ever make one slower. */
const TURNS = 2;

/** Pulsar → map → HTTP, beside the same by hand; the text to print. */
export async function benchPulsarHttp({ rounds, quick, json }: BenchOptions): Promise<string> {
  const count = quick ? 2_000 : 10_000;
  const broker = await startBrokerProcess("memory");
  const service = await startService();
  const figures = new Map<string, { readonly wall: number; readonly cpu: number }[]>();
  try {
    await fill(broker.url, count);
    for (let round = 0; round <= rounds; round++) {
      // The first round warms up.
      console.error(round === 0 ? "warm-up" : `round ${round} of ${rounds}`);
      const best = new Map<string, { wall: number; cpu: number }>();
      for (let turn = 0; turn < (quick || round === 0 ? 1 : TURNS); turn++)
        for (const [name, run] of Object.entries(CASES)) {
          const subscription = `${name} ${round} ${turn}`;
          const ends = { brokerUrl: broker.url, topic: "orders", subscription, count };
          const { wallMs, cpuMs } = await run({ ...ends, serviceUrl: service.url });
          const { wall = 0, cpu = 0 } = best.get(name) ?? {};
          best.set(name, {
            wall: Math.max(wall, (count / wallMs) * 1000),
            cpu: Math.max(cpu, (count / cpuMs) * 1000),
          });
        }
      if (round > 0)
        for (const [name, figure] of best)
          figures.set(name, [...(figures.get(name) ?? []), figure]);
    }
  } finally {
    await service.close();
    await broker.close();
  }
  const machine = thisMachine();
  if (json)
    return JSON.stringify({
      bench: "pulsar-http",
      machine,
      rounds,
      cases: Object.fromEntries(figures),
    });
  const hand = figures.get("hand-written loop") ?? [];
  const rows = [...figures].map(([name, all]) => {
    const cpuRatios = all.map(({ cpu }, round) => cpu / (hand[round]?.cpu ?? 1));
    const wallRatios = all.map(({ wall }, round) => wall / (hand[round]?.wall ?? 1));
    const isYardstick = all === hand;
    return [
      name,
      roundsText(
        all.map(({ wall }) => wall),
        thousands,
      ),
      roundsText(wallRatios, short),
      roundsText(
        all.map(({ cpu }) => cpu),
        thousands,
      ),
      roundsText(cpuRatios, short),
      isYardstick ? "" : `≥ ${GOAL}`,
      isYardstick ? "" : verdict(wallRatios, cpuRatios),
    ];
  });
  const heading = [
    "1 KiB messages",
    "a second",
    "/ by hand",
    "a second of CPU",
    "/ by hand",
    "goal",
    "",
  ];
  return `${machineLine(machine)}\n\n${table(heading, rows)}`;
}

function verdict(...ratios: readonly (readonly number[])[]): string {
  return ratios.every((rounds) => spreadOf(rounds).median >= GOAL) ? "met" : "missed";
}

function thousands(value: number): string {
  return `${(value / 1000).toFixed(1)} k`;
}

/** Fills the topic; a subscription keeps its messages for those that come later. */
async function fill(url: string, count: number): Promise<void> {
  const client = await connect(url);
  const keeper = await client.subscribe({
    topic: "orders",
    subscription: "keeper",
    initialPosition: "earliest",
    receiverQueueSize: 1,
  });
  const producer = await client.createProducer({ topic: "orders", batching: false });
  await Promise.all(Array.from({ length: count }, (_, id) => producer.send({ data: orderOf(id) })));
  await keeper.close();
  await client.close();
}

async function startService(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const script = fileURLToPath(new URL("sink-child.js", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    url: line.toString().trim(),
    close: async () => {
      const gone = once(child, "exit");
      child.stdin.end();
      await gone;
    },
  };
}
