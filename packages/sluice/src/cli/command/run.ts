import { text } from "node:stream/consumers";
import { Command } from "commander";
import { FlowFileError } from "../../flow/flow-file.ts";
import type { ExitCode } from "../main.ts";
import { writeLines } from "../output.ts";
import { contentOf } from "../../file/content.ts";
import { serve } from "./serve.ts";
import type { Running, Served } from "./serve.ts";
import { stopSignals } from "../stop-signals.ts";

interface RunOptions {
  readonly json?: true;
}

const RUN_EXAMPLES = `
Examples:
  sluice run flow.yaml
  sluice run flow.yaml --json

Prints one line when all connectors have connected, and after 2 s one that names those that have not; on
standard error if a sink writes to standard output.

Runs until SIGINT or SIGTERM: then sources stop, messages that were read are stored and written, and it exits
with 0. A second signal ends it at once. Pipelines without a gateway also end with their sources.

When the file changes, and on SIGHUP, limits and pipelines of the new file are taken over; if it is wrong, the
former ones stay. Exits with 1 if it cannot start, with 2 if the file is wrong.`;

const CHECK_EXAMPLES = `
Examples:
  sluice check flow.yaml
  sluice check flow.yaml --json

--json prints { file, name, ok: true }, or { file, ok: false, problems }: of each problem file, line, message, and
where they are known path, found and expected.

Exits with 0, with 2 if the file is wrong. Modules of maps must be there; keys, certificates and
addresses that it names are not looked at: sluice run does.`;

const FLOW_FILE = "sluice.yaml";

export function runCommand(): Command {
  return new Command("run")
    .summary("run what a flow file describes")
    .description("Runs the gateway and the pipelines of a flow file, with their administration.")
    .argument("[file]", "the flow file, YAML or JSON; - reads standard input", FLOW_FILE)
    .option("--json", "print the ready line and events as JSON, one object on a line")
    .addHelpText("after", RUN_EXAMPLES)
    .action(async (file: string, options: RunOptions) => {
      const json = options.json ?? false;
      const signals = stopSignals();
      try {
        const served = await Promise.race([signals.first, loaded(file, json)]);
        if (served === undefined) return;
        // Standard output is for messages if a sink writes them there.
        const out = served.writesStdout === true ? process.stderr : process.stdout;
        await serve(served, signals, (running, notReady) =>
          writeLines(out, [readyLine(running, { json, notReady })]),
        );
      } finally {
        signals.close();
      }
    });
}

export function checkCommand(end: (code: ExitCode) => void): Command {
  return new Command("check")
    .summary("check a flow file")
    .description("Checks a flow file and reports every mistake with its line.")
    .argument("[file]", "the flow file, YAML or JSON; - reads standard input", FLOW_FILE)
    .option("--json", "print the result as one JSON object")
    .addHelpText("after", CHECK_EXAMPLES)
    .action(async (file: string, options: RunOptions) => {
      const { json = false } = options;
      try {
        const { loadRunnableFlow } = await import("../../pipelines/define/connector-mistakes.ts");
        const { name } = await loadRunnableFlow(await contentOfFlow(file), file);
        const line = json ? JSON.stringify({ file, name, ok: true }) : `${file} is right`;
        await writeLines(process.stdout, [line]);
      } catch (error) {
        if (!json || !(error instanceof FlowFileError)) throw error;
        const { problems } = error;
        await writeLines(process.stdout, [JSON.stringify({ file, ok: false, problems })]);
        end(2);
      }
    });
}

/** The engine and its connectors take longer to load than other commands run. */
async function loaded(file: string, json: boolean): Promise<Served> {
  const { servedFlow } = await import("../flow/run-flow.ts");
  return servedFlow({ file, content: await contentOfFlow(file) }, json);
}

async function contentOfFlow(file: string): Promise<string> {
  return file === "-" ? text(process.stdin) : (await contentOf(file)).toString("utf8");
}

function readyLine(
  running: Running,
  { json, notReady }: { readonly json: boolean; readonly notReady: string | undefined },
): string {
  const { gateway, admin } = running;
  const pipelines = running.pipelines?.() ?? [];
  if (json)
    return JSON.stringify({
      event: notReady === undefined ? "ready" : "starting",
      ...(notReady !== undefined && { notReady }),
      gateway: gateway?.url ?? null,
      admin: admin?.url ?? null,
      pipelines,
    });
  const parts = [
    ...(gateway === undefined ? [] : [`on ${gateway.urls.join(" and ")}`]),
    ...(pipelines.length === 0 ? [] : [`pipelines ${pipelines.join(", ")}`]),
    ...(admin === undefined ? [] : [`administration on ${admin.url}`]),
  ];
  return `${notReady === undefined ? "ready" : `starting (${notReady})`} ${parts.join(", ")}`;
}
