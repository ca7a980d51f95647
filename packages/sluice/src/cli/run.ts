import { text } from "node:stream/consumers";
import { Command } from "commander";
import { loadFlow } from "../flow/flow-file.ts";
import type { Flow } from "../flow/flow.ts";
import { servedOf } from "./flow-options.ts";
import type { ExitCode } from "./main.ts";
import { writeLines } from "./output.ts";
import { contentOf, serve } from "./serve.ts";
import type { Running } from "./serve.ts";

interface RunOptions {
  readonly json?: true;
}

const RUN_EXAMPLES = `
Examples:
  sluice run flow.yaml
  sluice run flow.yaml --json

Prints one line when it is ready. Runs until SIGINT or SIGTERM: then what has come is stored and it
exits with 0. A second signal ends it at once. Exits with 1 if it cannot start, with 2 if the file is
wrong.`;

const CHECK_EXAMPLES = `
Examples:
  sluice check flow.yaml

Exits with 0, with 2 if the file is wrong. Keys, certificates and addresses that it names are not
looked at: sluice run does.`;

const FLOW_FILE = "sluice.yaml";

export function runCommand(end: (code: ExitCode) => void): Command {
  return new Command("run")
    .summary("run what a flow file describes")
    .description("Runs the gateway of a flow file, with its administration.")
    .argument("[file]", "the flow file, YAML or JSON; - reads standard input", FLOW_FILE)
    .option("--json", "print the ready line and events as JSON, one object on a line")
    .addHelpText("after", RUN_EXAMPLES)
    .action(async (file: string, options: RunOptions) => {
      const json = options.json ?? false;
      const served = await servedOf(await readFlow(file), json);
      await serve(served, end, (running) => writeLines(process.stdout, [readyLine(running, json)]));
    });
}

export function checkCommand(): Command {
  return new Command("check")
    .summary("check a flow file")
    .description("Checks a flow file and reports every mistake with its line.")
    .argument("[file]", "the flow file, YAML or JSON; - reads standard input", FLOW_FILE)
    .option("--json", "print the result as one JSON object")
    .addHelpText("after", CHECK_EXAMPLES)
    .action(async (file: string, options: RunOptions) => {
      const { name } = await readFlow(file);
      const line = options.json ? JSON.stringify({ file, name, ok: true }) : `${file} is right`;
      await writeLines(process.stdout, [line]);
    });
}

async function readFlow(file: string): Promise<Flow> {
  const content =
    file === "-" ? await text(process.stdin) : (await contentOf(file)).toString("utf8");
  return loadFlow(content, file);
}

function readyLine({ broker, admin }: Running, json: boolean): string {
  if (json)
    return JSON.stringify({ event: "ready", gateway: broker.url, admin: admin?.url ?? null });
  const administration = admin === undefined ? "" : `, administration on ${admin.url}`;
  return `ready on ${broker.urls.join(" and ")}${administration}`;
}
