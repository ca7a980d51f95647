import { machineLine, thisMachine } from "../machine.ts";
import { perSecond, roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { runCases } from "../run-cases.ts";
import type { Figures } from "../run-cases.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { CASES } from "./cases.ts";

/** Throughput with limits that are never reached, as a part of that without: at least. */
const LIMITED_GOAL = 0.95;

const CHILD = new URL("child.js", import.meta.url);

/** How many messages one core moves from a generator through a map into a blackhole; the text to print. */
export async function benchPipeline({ rounds, quick, json }: BenchOptions): Promise<string> {
  const cases = Object.keys(CASES).map((id) => ({ id, nodeFlags: [] }));
  const args = quick ? ["40", "5"] : ["60", "20"];
  const figures = await runCases(CHILD, cases, { rounds, args });
  const machine = thisMachine();
  if (json) {
    const all = Object.fromEntries(figures);
    return JSON.stringify({ bench: "pipeline", machine, rounds, cases: all });
  }
  const heading = [
    "messages a second of CPU time",
    "",
    "goal",
    "",
    "/ bare loop",
    "limits far above",
    "goal",
    "",
  ];
  const rows = Object.entries(CASES).map(([id, { label, goal }]) => {
    const all = figures.get(id) ?? [];
    const plain = all.map(({ plain: value = 0 }) => value);
    const limited = ratios(all, "limited", "plain");
    return [
      label,
      roundsText(plain, perSecond),
      `≥ ${perSecond(goal)}`,
      verdict(plain, goal),
      roundsText(ratios(all, "plain", "bare"), short),
      roundsText(limited, short),
      `≥ ${LIMITED_GOAL}`,
      verdict(limited, LIMITED_GOAL),
    ];
  });
  return `${machineLine(machine)}\n\n${table(heading, rows)}`;
}

function ratios(all: readonly Figures[], name: string, by: string): readonly number[] {
  return all.map((figures) => (figures[name] ?? 0) / (figures[by] ?? 1));
}

function verdict(rounds: readonly number[], goal: number): string {
  return spreadOf(rounds).median >= goal ? "met" : "missed";
}
