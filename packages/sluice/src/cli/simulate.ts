import { readFile, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { loadScenario, reportLines, simulate } from "@sluice/lab";
import { Command } from "commander";
import type { ExitCode } from "./main.ts";
import { writeLines } from "./output.ts";
import { unreadable } from "./unreadable.ts";

interface SimulateOptions {
  readonly json?: true;
  readonly svg?: string;
}

const EXAMPLES = `
Examples:
  sluice simulate scenarios/numaflow-go-back-n.yaml
  sluice simulate scenarios/tchannel-steady-rate-3.yaml --json
  sluice simulate scenarios/numaflow-relaxed.yaml --svg relaxed.svg

Exits with 0, with 1 if an expectation of the file is missed, with 2 if the file is wrong.`;

export function simulateCommand(end: (code: ExitCode) => void): Command {
  return new Command("simulate")
    .summary("run a scenario file in virtual time")
    .description("Runs the real algorithms in virtual time, as a scenario file says.")
    .argument("<file>", "the scenario, YAML or JSON; - reads standard input")
    .option("--json", "print the result as one JSON object")
    .option("--svg <out>", "also draw the chart into this file")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, options: SimulateOptions) => {
      const simulation = simulate(loadScenario(await readScenario(file), file));
      const lines = options.json ? [JSON.stringify(simulation.result)] : reportLines(simulation);
      await writeLines(process.stdout, lines);
      if (options.svg !== undefined) await writeChart(options.svg, simulation.svg());
      if (simulation.result.missed.length > 0) end(1);
    });
}

async function readScenario(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (cause) {
    throw unreadable(file, "read", cause);
  }
}

async function writeChart(file: string, svg: string): Promise<void> {
  try {
    await writeFile(file, svg);
  } catch (cause) {
    throw unreadable(file, "written", cause);
  }
}
