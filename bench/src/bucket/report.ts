import { machineLine } from "../machine.ts";
import type { Machine } from "../machine.ts";
import { perSecond, roundsText, short, spreadText } from "../numbers.ts";
import { table } from "../table.ts";
import { ALLOCATION, MANY_KEYS, MEMORY, ONE_KEY } from "./cases.ts";
import type { Judged } from "./goals.ts";
import type { Results } from "./results.ts";

/** The run as text for a terminal: a table for each question, then the goals. */
export function report(machine: Machine, results: Results, goals: readonly Judged[]): string {
  return [
    machineLine(machine),
    "Per second of CPU time; median (min..max) over the rounds; ratios within one process.",
    `One key, always admitted\n${oneKeyTable(results)}`,
    `100,000 keys\n${manyKeysTable(results)}`,
    `Bytes per key, 100,000 keys\n${memoryTable(results)}`,
    `Bytes allocated per call\n${allocationTable(results)}`,
    `Goals\n${goalsTable(goals)}`,
  ].join("\n\n");
}

function oneKeyTable(results: Results): string {
  const rows = Object.entries(ONE_KEY).map(([name, { label }]) => [
    label,
    roundsText(results.figure(`one-key/${name}`, "case"), perSecond),
    roundsText(results.ratio(`one-key/${name}`, "counter"), short),
    roundsText(results.ratio(`one-key/${name}`, "clock"), short),
  ]);
  return table(["", "acquires", "/ bare counter", "/ performance.now()"], rows);
}

function manyKeysTable(results: Results): string {
  const rows = Object.entries(MANY_KEYS).map(([name, { label }]) => [
    label,
    roundsText(results.figure(`many-keys/${name}`, "case"), perSecond),
    roundsText(results.ratio(`many-keys/${name}`, "map"), short),
    roundsText(results.ratio(`many-keys/${name}`, "clock"), short),
  ]);
  return table(["", "acquires", "/ Map.get + decrement", "/ performance.now()"], rows);
}

function memoryTable(results: Results): string {
  const rows = Object.entries(MEMORY).map(([name, { label }]) => [
    label,
    roundsText(results.figure(`memory/${name}`, "bytes"), short),
  ]);
  return table(["", "bytes"], rows);
}

function allocationTable(results: Results): string {
  const rows = Object.entries(ALLOCATION).map(([name, { label }]) => [
    label,
    roundsText(results.figure(`allocation/${name}`, "own"), short),
    roundsText(results.figure(`allocation/${name}`, "clock"), short),
  ]);
  return table(["", "own", "of performance.now()"], rows);
}

function goalsTable(goals: readonly Judged[]): string {
  const rows = goals.map(({ what, goal, measured, met }) => [
    what,
    goal,
    spreadText(measured, short),
    met ? "met" : "missed",
  ]);
  return table(["", "goal", "measured", ""], rows);
}
