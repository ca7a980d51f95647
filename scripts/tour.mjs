// Runs every bundled scenario and prints its table: what `npm start` shows.
import { readdirSync, readFileSync } from "node:fs";
import { loadScenario, reportLines, simulate } from "@sluice/lab";

const folder = new URL("../scenarios/", import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
let rows = 0;
let missed = 0;

for (const file of files) {
  const simulation = simulate(
    loadScenario(readFileSync(new URL(file, folder), "utf8"), `scenarios/${file}`),
  );
  console.log(`\nscenarios/${file}\n${[...reportLines(simulation)].join("\n")}`);
  rows += simulation.result.rows.length;
  missed += simulation.result.missed.length;
}

const verdict = missed === 0 ? "all as the files expect" : `${missed} expectations missed`;
console.log(`\n${files.length} scenarios, ${rows} rows: ${verdict}.`);
console.log("Change one, or write your own: npx sluice simulate FILE [--json] [--svg OUT]");
process.exitCode = missed === 0 ? 0 : 1;
