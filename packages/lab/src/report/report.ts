import type { Miss } from "../scenario/expect.ts";
import { show } from "../scenario/fields.ts";
import type { Simulation } from "../scenario/simulate.ts";
import { tableLines } from "./table.ts";

/** What `sluice simulate` prints for people: title, table, verdict, and what was missed. */
export function* reportLines({ result, run }: Simulation): Generator<string> {
  if (result.title !== "") yield result.title;
  yield* tableLines(run.columns, run.rows.length);
  if (run.closing !== undefined) yield run.closing;
  for (const miss of result.missed) yield missLine(miss);
}

function missLine({ path, expected, found }: Miss): string {
  const place = found === undefined ? "nothing is there" : `found ${show(found)}`;
  return `missed: ${path}: expected ${wanted(expected)}, ${place}`;
}

function wanted(expected: unknown): string {
  if (!Array.isArray(expected) || expected.length !== 2) return show(expected);
  return `${show(expected[0])} to ${show(expected[1])}`;
}
