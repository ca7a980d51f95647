import { writeFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { ConfigError } from "@sluice/core";
import { Command, Option } from "commander";
import { unreadable } from "../../file/unreadable.ts";
import { flowTemplate } from "../../init/flow-template.ts";
import type { FlowKind } from "../../init/flow-template.ts";
import { initLines, nextSteps } from "../../init/next-steps.ts";
import { writeLines } from "../output.ts";

interface InitOptions {
  readonly gateway?: true;
  readonly pipeline?: true;
  readonly force?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  sluice init
  sluice init shop.yaml --gateway
  sluice init --pipeline --force
  sluice init - | less

Asks nothing. What it writes runs as it is, with sluice run, and needs no server. Exits with 2 if the file
is there already, unless --force is given, or cannot be written.`;

const FLOW_FILE = "sluice.yaml";

export function initCommand(): Command {
  return new Command("init")
    .summary("write a flow file to begin with")
    .description("Writes a flow file with comments that say what each key does.")
    .argument("[file]", "where to write it; - writes to standard output", FLOW_FILE)
    .addOption(new Option("--gateway", "only a gateway").conflicts("pipeline"))
    .option("--pipeline", "only a pipeline")
    .option("--force", "overwrite the file")
    .option("--json", "print the result as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, options: InitOptions) => {
      const kind = kindOf(options);
      const text = flowTemplate(kind, nameFor(file));
      if (file === "-") return writeLines(process.stdout, [text.trimEnd()]);
      await write(file, text, options.force ?? false);
      await writeLines(
        process.stdout,
        options.json
          ? [JSON.stringify({ file, kind, next: nextSteps(file) })]
          : initLines(file, kind),
      );
    });
}

function kindOf({ gateway, pipeline }: InitOptions): FlowKind {
  if (gateway) return "gateway";
  return pipeline ? "pipeline" : "whole";
}

/** The name of the flow: its folder's, as packages have, as far as that is a plain word. */
function nameFor(file: string): string {
  const folder = basename(dirname(resolve(file))).toLowerCase();
  return /^[a-z][a-z0-9-]*$/.test(folder) ? folder : "sluice";
}

/** Without `isForced` a file that is there stays, also if it appears just now. */
async function write(file: string, text: string, isForced: boolean): Promise<void> {
  try {
    await writeFile(file, text, { flag: isForced ? "w" : "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST")
      throw new ConfigError(`${file} is there already; --force overwrites it`, undefined, {
        cause,
      });
    throw unreadable(file, "written", cause);
  }
}
