import type { Miss } from "../scenario/expect.ts";
import { show } from "../file/show.ts";
import type { Simulation } from "../scenario/simulate.ts";
import { tableLines } from "./table.ts";

/**
 * The report that `sluice simulate` prints: title, table, closing lines, and missed expectations.
 */
export function* reportLines({ result, run }: Simulation): Generator<string> {
  if (result.title !== "") yield result.title;
  yield* tableLines(run.columns, run.rows.length);
  if (run.closing !== undefined) yield run.closing;
  for (const miss of result.missed) yield missLine(miss);
}

function missLine({ path, expected, found, known }: Miss): string {
  const place =
    found === undefined ? `nothing is there${knownNames(known)}` : `found ${show(found)}`;
  return `missed: ${path}: expected ${wanted(expected)}, ${place}`;
}

/** What could have been named instead. */
function knownNames(known: Miss["known"]): string {
  if (known === undefined) return "";
  const { path, names } = known;
  const shown = names.map((name) => name.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?")).join(", ");
  return `; ${path || "the result"} has ${shown || "nothing in it"}`;
}

function wanted(expected: unknown): string {
  if (!Array.isArray(expected) || expected.length !== 2) return show(expected);
  return `${show(expected[0])} to ${show(expected[1])}`;
}
