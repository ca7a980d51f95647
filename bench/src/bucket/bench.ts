import { thisMachine } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { runCases } from "../run-cases.ts";
import type { Case } from "../run-cases.ts";
import { spreadOf } from "../spread.ts";
import { ALLOCATION, MANY_KEYS, MEMORY, ONE_KEY } from "./cases.ts";
import { judge } from "./goals.ts";
import { report } from "./report.ts";
import { Results } from "./results.ts";

const CHILD = new URL("child.js", import.meta.url);

/** Large enough that a loop which allocates a little is not collected before it is seen. */
const ALLOCATION_FLAGS = ["--expose-gc", "--max-semi-space-size=64", "--min-semi-space-size=64"];

/** What an acquire costs in time and memory; the text to print. */
export async function benchBucket(options: BenchOptions): Promise<string> {
  const { sliceMs, slices } = options.quick
    ? { sliceMs: 10, slices: 3 }
    : { sliceMs: 40, slices: 5 };
  const rounds = await runCases(CHILD, allCases(), {
    rounds: options.rounds,
    args: [String(sliceMs), String(slices)],
  });
  const machine = thisMachine();
  const results = new Results(rounds);
  const goals = judge(results);
  if (!options.json) return report(machine, results, goals);
  const cases = Object.fromEntries([...rounds].map(([id, figures]) => [id, spreads(figures)]));
  return JSON.stringify({ bench: "bucket", machine, rounds: options.rounds, cases, goals });
}

function allCases(): readonly Case[] {
  return [
    ...casesOf("one-key", Object.keys(ONE_KEY), []),
    ...casesOf("many-keys", Object.keys(MANY_KEYS), []),
    ...casesOf("memory", Object.keys(MEMORY), ["--expose-gc"]),
    ...casesOf("allocation", Object.keys(ALLOCATION), ALLOCATION_FLAGS),
  ];
}

function casesOf(
  section: string,
  names: readonly string[],
  nodeFlags: readonly string[],
): readonly Case[] {
  return names.map((name) => ({ id: `${section}/${name}`, nodeFlags }));
}

function spreads(rounds: readonly Readonly<Record<string, number>>[]): object {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, spreadOf(rounds.map((figures) => figures[name] as number))]),
  );
}
