import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { ConfigError } from "@sluice/core";
import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Scenario, Simulation } from "@sluice/lab";
import { Command } from "commander";
import type { ExitCode } from "../main.ts";
import { writeLines } from "../output.ts";
import { unreadable } from "../../file/unreadable.ts";
import { htmlReport } from "../../report/html-report.ts";
import { reportAssets } from "../../report/report-assets.ts";
import { reportedScenario } from "../../report/report-data.ts";
import type { ReportedScenario } from "../../report/report-data.ts";

interface SimulateOptions {
  readonly json?: true;
  readonly svg?: string;
  readonly html?: string;
}

const EXAMPLES = `
Examples:
  sluice simulate scenarios/numaflow-go-back-n.yaml
  sluice simulate scenarios/tchannel-steady-rate-3.yaml --json
  sluice simulate scenarios/numaflow-relaxed.yaml --svg relaxed.svg
  sluice simulate scenarios/numaflow-relaxed.yaml --html relaxed.html
  sluice simulate scenarios/ --html report.html
  sluice simulate scenarios/

Exits with 0, with 1 if an expectation of the file is missed, with 2 if the file is wrong.`;

export function simulateCommand(end: (code: ExitCode) => void): Command {
  return new Command("simulate")
    .summary("run a scenario file in virtual time")
    .description("Runs the real algorithms in virtual time, as a scenario file says.")
    .argument("<file>", "the scenario, YAML or JSON, or a folder of them; - reads standard input")
    .option("--json", "print the result as one JSON object; of a folder, one for each file")
    .option("--svg <out>", "also draw the chart into this file")
    .option(
      "--html <out>",
      "also write a report with charts into this file; of a folder, one for all",
    )
    .addHelpText("after", EXAMPLES)
    .action(async (given: string, options: SimulateOptions) => {
      const file = await located(given);
      if (file !== "-" && (await isFolder(file))) {
        if (await simulateFolder(file, options)) end(1);
        return;
      }
      const scenario = loadScenario(await readScenario(file), file);
      const simulation = await simulate(scenario);
      const lines = options.json ? [JSON.stringify(simulation.result)] : reportLines(simulation);
      await writeLines(process.stdout, lines);
      if (options.svg !== undefined) await writeTo(options.svg, simulation.svg());
      if (options.html !== undefined)
        await writeReport(options.html, [reported(file, scenario, simulation)]);
      if (simulation.result.missed.length > 0) end(1);
    });
}

/** The package's own scenarios, so that the examples of the help run in any folder. */
const OWN = fileURLToPath(new URL("../../../scenarios", import.meta.url));

/** The path as given; that of the package if it begins with `scenarios` and only the package has it. */
async function located(path: string): Promise<string> {
  if (!/^scenarios(?:\/|$)/.test(path) || (await exists(path))) return path;
  const own = join(OWN, path.slice("scenarios".length));
  return (await exists(own)) ? own : path;
}

/** One line for each scenario of a folder. Answers whether an expectation was missed. */
async function simulateFolder(folder: string, options: SimulateOptions): Promise<boolean> {
  const { json, svg, html } = options;
  if (svg !== undefined)
    throw new ConfigError("--svg draws one scenario; name a file, not a folder");
  const files = (await readdir(folder)).filter((name) => /\.(?:ya?ml|json)$/.test(name)).toSorted();
  if (files.length === 0) throw new ConfigError(`${folder} has no scenario; expected files *.yaml`);
  const width = Math.max(...files.map((name) => name.length));
  const reports: ReportedScenario[] = [];
  let missedFiles = 0;
  for (const name of files) {
    const path = join(folder, name);
    const scenario = loadScenario(await readScenario(path), path);
    const simulation = await simulate(scenario);
    const { result } = simulation;
    if (html !== undefined) reports.push(reported(path, scenario, simulation));
    const { kind, title, rows, missed } = result;
    if (missed.length > 0) missedFiles++;
    const verdict = missed.length === 0 ? "as expected" : `${missed.length} expectations missed`;
    const line = json
      ? JSON.stringify({ file: path, kind, title, rows: rows.length, missed })
      : `${name.padEnd(width)}  ${verdict}  ${title}`;
    await writeLines(process.stdout, [line]);
  }
  if (html !== undefined) await writeReport(html, reports);
  if (!json) {
    const verdict = missedFiles === 0 ? "all as their files expect" : `${missedFiles} missed`;
    await writeLines(process.stdout, [`${files.length} scenarios: ${verdict}`]);
  }
  return missedFiles > 0;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // What cannot be read is told when it is read.
    return false;
  }
}

async function readScenario(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (cause) {
    throw unreadable(file, "read", cause);
  }
}

function reported(file: string, { expect }: Scenario, simulation: Simulation): ReportedScenario {
  return reportedScenario(file, Object.keys(expect).length, simulation);
}

async function writeReport(file: string, scenarios: readonly ReportedScenario[]): Promise<void> {
  await writeTo(file, htmlReport(scenarios, await reportAssets()));
}

async function writeTo(file: string, content: string): Promise<void> {
  try {
    await writeFile(file, content);
  } catch (cause) {
    throw unreadable(file, "written", cause);
  }
}
