import { Command } from "commander";
import { whyLines } from "../../why/why-lines.ts";
import type { WholeWhy } from "../../why/why-lines.ts";
import { adminClient, withAdminOptions } from "../flow/admin-client.ts";
import type { AdminOptions } from "../flow/admin-client.ts";
import { writeLines } from "../output.ts";
import { terminalSize } from "../terminal-size.ts";

const EXAMPLES = `
Examples:
  sluice why
  sluice why public/default/orders
  sluice why orders/out
  sluice why 127.0.0.1:9000
  sluice why orders --json
  sluice why --admin http://gateway:7070 --token-file admin.token

Exits with 0 whether something waits or not, with 1 if no gateway answers or nothing has the name.`;

/** Longer lines are hard to read, also on a wide terminal. */
const WIDTH_MAX = 100;

export function whyCommand(): Command {
  const command = new Command("why")
    .summary("say what waits in a running gateway or pipeline, and why")
    .description(
      "Says what waits in a running gateway and its pipelines: for which limit, since when and until when.",
    )
    .argument(
      "[name]",
      "only this topic, group, pipeline, vertex (PIPELINE/VERTEX) or gate (the service of an HTTP sink)",
    );
  return withAdminOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (name: string | undefined, options: AdminOptions) => {
      const client = await adminClient(options);
      const query = name === undefined ? "" : `?name=${encodeURIComponent(name)}`;
      const answer = await client.get(`/api/why${query}`);
      const width = Math.min(WIDTH_MAX, terminalSize(process.stdout).columns);
      const lines = options.json
        ? [JSON.stringify(answer)]
        : whyLines(answer as WholeWhy, name, { width, url: client.url });
      await writeLines(process.stdout, lines);
    });
}
