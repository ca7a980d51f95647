// Runs every bundled scenario and prints its table, or how it ended if that is long: what `npm start` shows.
import { readdirSync, readFileSync } from "node:fs";
import { loadScenario, reportLines, simulate } from "@sluice/lab";

const folder = new URL("../scenarios/", import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
const ROWS_SHOWN = 40;
let rows = 0;
let missed = 0;

for (const file of files) {
  const simulation = simulate(
    loadScenario(readFileSync(new URL(file, folder), "utf8"), `scenarios/${file}`),
  );
  const count = simulation.result.rows.length;
  const { title } = simulation.result;
  const summary = [title, `(${count} rows)`, simulation.run.closing ?? ""];
  const lines = count <= ROWS_SHOWN ? [...reportLines(simulation)] : summary;
  console.log(`\nscenarios/${file}\n${lines.join("\n")}`);
  rows += count;
  missed += simulation.result.missed.length;
}

const verdict = missed === 0 ? "all as the files expect" : `${missed} expectations missed`;
console.log(`\n${files.length} scenarios, ${rows} rows: ${verdict}.`);
console.log("Change one, or write your own: npx sluice simulate FILE [--json] [--svg OUT]");
process.exitCode = missed === 0 ? 0 : 1;
