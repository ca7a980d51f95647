import { machineLine, thisMachine } from "../machine.ts";
import type { Loop } from "../measure.ts";
import { short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { blocksOf, intervalText, judged, measurePaired, ratioInterval } from "../paired.ts";
import type { Blocks, Interval } from "../paired.ts";
import { table } from "../table.ts";
import { runCases } from "../run-cases.ts";
import { GATES, QUESTIONS } from "./calls.ts";
import { BARE, BARE_TIMED, startFetches } from "./fetches.ts";

/** CPU time of a call through a gate, as a part of p-limit's: at most. */
const CALL_GOAL = 1.5;
/** CPU time of a request by throttled fetch, as a part of the bare one's: at most. */
const FETCH_GOAL = 1.05;

interface Row {
  readonly question: string;
  readonly name: string;
  /** CPU time as a part of the peer's, by the blocks of all rounds. */
  readonly ratio: Interval;
  readonly ratioMax: number;
}

/** What a gate costs around a call, and around a request; the text to print. */
export async function benchGate({ rounds, quick, json }: BenchOptions): Promise<string> {
  const calls = quick ? { sliceMs: 10, blocks: 20 } : { sliceMs: 20, blocks: 40 };
  // The network makes slices uneven, so there are more of them.
  const requests = { sliceMs: 20, blocks: (quick ? 120 : 150) * rounds };
  const fetches = await startFetches();
  const rows = [
    ...(await compareCalls(rounds, calls)),
    ...(await compareFetches(fetches.plain, BARE, requests)),
    ...(await compareFetches(fetches.timed, BARE_TIMED, requests)),
  ];
  fetches.close();
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "gate", machine, rounds, rows });
  const heading = ["", "", "CPU time ÷ peer's (95 %)", "goal", ""];
  const lines = rows.map(({ question, name, ratio, ratioMax }) => [
    question,
    name,
    intervalText(ratio),
    `≤ ${short(ratioMax)}`,
    judged(ratio, ratioMax),
  ]);
  return `${machineLine(machine)}\n\n${table(heading, lines)}`;
}

const CALLS = new URL("calls-child.js", import.meta.url);

async function compareCalls(rounds: number, { sliceMs, blocks }: Blocks): Promise<Row[]> {
  const cases = Object.keys(QUESTIONS).flatMap((question) =>
    Object.keys(GATES).map((name) => ({ id: `${question}/${name}`, nodeFlags: [] })),
  );
  const figures = await runCases(CALLS, cases, { rounds, args: [String(sliceMs), String(blocks)] });
  return [...figures].map(([id, all]) => {
    const [question = "", name = ""] = id.split("/");
    const ratio = ratioInterval(blocksOf("gate", all), blocksOf("peer", all));
    return { question, name, ratio, ratioMax: CALL_GOAL };
  });
}

async function compareFetches(
  loops: Record<string, Loop>,
  peer: string,
  blocks: Blocks,
): Promise<Row[]> {
  const timesUs = await measurePaired(loops, blocks);
  return Object.entries(timesUs)
    .filter(([name]) => name !== peer)
    .map(([name, all]) => ({
      question: "loopback",
      name,
      ratio: ratioInterval(all, timesUs[peer] ?? []),
      ratioMax: FETCH_GOAL,
    }));
}
