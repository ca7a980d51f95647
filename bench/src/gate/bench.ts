import { machineLine, thisMachine } from "../machine.ts";
import { measure } from "../measure.ts";
import type { Loop, Slices } from "../measure.ts";
import { roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { runCases } from "../run-cases.ts";
import { GATES, QUESTIONS } from "./calls.ts";
import { BARE, BARE_TIMED, startFetches } from "./fetches.ts";

/** CPU time of a call through a gate, as a part of p-limit's: at most. */
const CALL_GOAL = 1.5;
/** Throughput of throttled fetch, as a part of the bare one's: at least. */
const FETCH_GOAL = 0.95;

interface Row {
  readonly question: string;
  readonly name: string;
  /** CPU time as a part of the peer's, by round. */
  readonly ratios: readonly number[];
  readonly ratioMax: number;
}

/** What a gate costs around a call, and around a request; the text to print. */
export async function benchGate({ rounds, quick, json }: BenchOptions): Promise<string> {
  const slices = quick ? { sliceMs: 50, slices: 3 } : { sliceMs: 200, slices: 10 };
  // The network makes slices so uneven that the best of a few is luck.
  const many = { ...slices, slices: 4 * slices.slices };
  const requests = { goal: 1 / FETCH_GOAL, rounds, slices: many };
  const fetches = await startFetches();
  const rows = [
    ...(await compareCalls(rounds, slices)),
    ...(await compare("loopback", fetches.plain, { ...requests, peer: BARE })),
    ...(await compare("loopback", fetches.timed, { ...requests, peer: BARE_TIMED })),
  ];
  fetches.close();
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "gate", machine, rounds, rows });
  const heading = ["", "", "CPU time ÷ peer's", "goal", ""];
  const lines = rows.map(({ question, name, ratios, ratioMax }) => [
    question,
    name,
    roundsText(ratios, short),
    `≤ ${short(ratioMax)}`,
    spreadOf(ratios).median <= ratioMax ? "met" : "missed",
  ]);
  return `${machineLine(machine)}\n\n${table(heading, lines)}`;
}

const CALLS = new URL("calls-child.js", import.meta.url);

async function compareCalls(rounds: number, { sliceMs, slices }: Slices): Promise<Row[]> {
  const cases = Object.keys(QUESTIONS).flatMap((question) =>
    Object.keys(GATES).map((name) => ({ id: `${question}/${name}`, nodeFlags: [] })),
  );
  const figures = await runCases(CALLS, cases, { rounds, args: [String(sliceMs), String(slices)] });
  return [...figures].map(([id, all]) => {
    const [question = "", name = ""] = id.split("/");
    const ratios = all.map(({ gate = 0, peer = 0 }) => peer / gate);
    return { question, name, ratios, ratioMax: CALL_GOAL };
  });
}

interface Comparison {
  readonly peer: string;
  readonly goal: number;
  readonly rounds: number;
  readonly slices: Slices;
}

async function compare(
  question: string,
  loops: Record<string, Loop>,
  { peer, goal, rounds, slices }: Comparison,
): Promise<Row[]> {
  const ratios = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    const perSecond = await measure(loops, slices);
    for (const [name, value] of Object.entries(perSecond)) {
      if (name === peer) continue;
      ratios.set(name, [...(ratios.get(name) ?? []), (perSecond[peer] ?? 0) / value]);
    }
  }
  return [...ratios].map(([name, all]) => ({ question, name, ratios: all, ratioMax: goal }));
}
