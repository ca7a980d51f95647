import { machineLine, thisMachine } from "../machine.ts";
import { perSecond, roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { runCases } from "../run-cases.ts";
import type { Figures } from "../run-cases.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import type { CaseName } from "./cases.ts";
import { CASES } from "./cases.ts";

/** Throughput of two threads, as a multiple of one's: at least. */
const GOAL = 1.8;
/** Where threads that share nothing do not come to this, the machine had no two cores to give. */
const OWN_MIN = 1.9;

const CHILD = new URL("child.js", import.meta.url);

/** What a second thread adds to a bucket that all threads share; the text to print. */
export async function benchThreads({ rounds, quick, json }: BenchOptions): Promise<string> {
  const cases = Object.keys(CASES).map((id) => ({ id, nodeFlags: [] }));
  const figures = await runCases(CHILD, cases, { rounds, args: [quick ? "5" : "15", "200"] });
  const machine = thisMachine();
  if (json) {
    const all = Object.fromEntries(figures);
    return JSON.stringify({ bench: "threads", machine, rounds, cases: all });
  }
  const ratios = (id: CaseName): readonly number[] =>
    (figures.get(id) ?? []).map(({ one = 0, two = 0 }) => two / one);
  const heading = ["acquires a second", "one thread", "two threads", "ratio"];
  const lines = Object.entries(CASES).map(([id, { label }]) => [
    label,
    roundsText(figure(figures.get(id) ?? [], "one"), perSecond),
    roundsText(figure(figures.get(id) ?? [], "two"), perSecond),
    roundsText(ratios(id as CaseName), short),
  ]);
  const goal = `admitted, exact clock: two threads ≥ ${GOAL} × one: ${verdict(ratios("exact"), ratios("own"))}`;
  return `${machineLine(machine)}\n\n${table(heading, lines)}\n\n${goal}`;
}

function verdict(shared: readonly number[], own: readonly number[]): string {
  if (spreadOf(shared).median >= GOAL) return "met";
  return spreadOf(own).median < OWN_MIN ? "not judged, no two cores were free" : "missed";
}

function figure(all: readonly Figures[], name: string): readonly number[] {
  return all.map((figures) => figures[name] ?? 0);
}
