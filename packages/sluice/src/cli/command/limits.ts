import { Command } from "commander";
import { adminClient, withAdminOptions } from "../flow/admin-client.ts";
import type { AdminClient, AdminOptions } from "../flow/admin-client.ts";
import { changedLine, limitLines } from "../../limits/limit-table.ts";
import type { AnsweredLimit, AnsweredLimits } from "../../limits/limit-table.ts";
import { bodyOf, pathOf, requireUnit, splitWords, TARGET } from "../../limits/limit-words.ts";
import { writeLines } from "../output.ts";

const EXAMPLES = `
What a limit is set for:
  broker                       all topics together
  group NAME                   the topics of a group together
  namespace TENANT/NAMESPACE   each topic of a namespace
  default                      each topic that has no other
  topic NAME                   one topic
  dispatch …                   deliveries: of broker, default, namespace, topic as above; of each subscription
                               with subscription-default, namespace-subscriptions TENANT/NAMESPACE,
                               topic-subscriptions NAME; of one with subscription TOPIC NAME
  subscribe …                  how often one consumer may subscribe: default, namespace, topic
  vertex PIPELINE/VERTEX       messages a second that all replicas of a vertex read: max, min, rampUpDuration;
                               concurrency and readBatchSize of this replica

Examples:
  sluice limits get
  sluice limits get topic public/default/orders
  sluice limits set topic public/default/orders messages=3300/s
  sluice limits set broker messages=50000/s bytes=200MB/s
  sluice limits set topic public/default/orders unlimited
  sluice limits set dispatch subscription public/default/orders billing messages=50/s
  sluice limits set subscribe default subscribes=10/30s
  sluice limits unset topic public/default/orders
  sluice limits set vertex orders/out max=500
  sluice limits unset vertex orders/out

A change holds at once; of a gateway also after a restart, of a vertex for the whole fleet if there is a
store. unset gives the limit of the flow file back. Exits with 1 if no gateway answers or it refuses, with
2 if the command is wrong.`;

export function limitsCommand(): Command {
  return new Command("limits")
    .summary("see and change the limits of a running gateway")
    .description("Sees and changes the limits of a running gateway.")
    .addHelpText("after", EXAMPLES)
    .addCommand(subcommand("get", "[target...]", "print the limits that are set", get))
    .addCommand(
      subcommand(
        "set",
        "<target-and-rates...>",
        "set a limit: TARGET messages=N/s bytes=NMB/s",
        set,
      ),
    )
    .addCommand(subcommand("unset", "<target...>", "remove a limit that was set", unset));
}

type Action = (
  client: AdminClient,
  words: readonly string[],
  json: boolean,
) => Promise<readonly string[]>;

function subcommand(name: string, argument: string, summary: string, action: Action): Command {
  return withAdminOptions(new Command(name).description(summary).argument(argument, TARGET)).action(
    async (words: readonly string[], options: AdminOptions) => {
      const client = await adminClient(options);
      await writeLines(process.stdout, await action(client, words, options.json ?? false));
    },
  );
}

async function get(
  client: AdminClient,
  words: readonly string[],
  json: boolean,
): Promise<readonly string[]> {
  const answer = await client.get(words.length === 0 ? "/api/limits" : pathOf(words));
  return json ? [JSON.stringify(answer)] : limitLines(answer as AnsweredLimits | AnsweredLimit);
}

async function set(
  client: AdminClient,
  words: readonly string[],
  json: boolean,
): Promise<readonly string[]> {
  const { target, rates } = splitWords(words);
  if (rates.length === 0) requireUnit(target);
  const path = pathOf(target);
  return changed(target, await client.put(path, bodyOf(target, rates)), json);
}

async function unset(
  client: AdminClient,
  words: readonly string[],
  json: boolean,
): Promise<readonly string[]> {
  return changed(words, await client.delete(pathOf(words)), json);
}

function changed(target: readonly string[], answer: unknown, json: boolean): readonly string[] {
  return [json ? JSON.stringify(answer) : changedLine(target, answer)];
}
