import type { WhyAnswer } from "@sluice/gateway/admin";
import { Command } from "commander";
import { whyLines } from "../why/why-lines.ts";
import { adminClient, withAdminOptions } from "./admin-client.ts";
import type { AdminOptions } from "./admin-client.ts";
import type { ExitCode } from "./main.ts";
import { writeLines } from "./output.ts";
import { orFail } from "./serve.ts";

const EXAMPLES = `
Examples:
  sluice why
  sluice why public/default/orders
  sluice why orders --json
  sluice why --admin http://gateway:7070 --token-file admin.token

Exits with 0 whether something waits or not, with 1 if no gateway answers.`;

export function whyCommand(end: (code: ExitCode) => void): Command {
  const command = new Command("why")
    .summary("say what waits in a running gateway, and why")
    .description(
      "Says what waits in a running gateway: who, for which limit, since when and until when.",
    )
    .argument("[topic]", "only this topic");
  return withAdminOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (topic: string | undefined, options: AdminOptions) => {
      const client = await adminClient(options);
      const query = topic === undefined ? "" : `?topic=${encodeURIComponent(topic)}`;
      const answer = await orFail(client.get(`/api/why${query}`), end);
      if (answer === undefined) return;
      const lines = options.json ? [JSON.stringify(answer)] : whyLines(answer as WhyAnswer, topic);
      await writeLines(process.stdout, lines);
    });
}
