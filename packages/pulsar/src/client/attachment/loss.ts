import type { SluiceError } from "@sluice/core";
import type { Command } from "../../wire/command.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { targetOf } from "../lookup/lookup.ts";

/** Why an attachment was lost, and where the broker said to go. */
export interface Loss {
  readonly reason: SluiceError;
  /** The attempt failed before the owner was attached. */
  readonly isFailure?: true;
  readonly assigned?: ConnectionTarget | undefined;
  readonly migratedTo?: ConnectionTarget | undefined;
}

/** The loss that a command announces; undefined if the command is not about the attachment. */
export function lossBy(
  command: Command,
  { target }: { readonly target: ConnectionTarget },
): Loss | undefined {
  const isProxied = target.proxyTo !== undefined;
  if (command.kind === "closeProducer" || command.kind === "closeConsumer") {
    const what = command.kind === "closeProducer" ? "producer" : "consumer";
    const reason = new ConnectionError(
      `the broker closed the ${what}, for example to move its topic`,
    );
    const { assignedBrokerServiceUrl: plain, assignedBrokerServiceUrlTls: tls } = command.body;
    const url = target.endpoint.isTls ? tls : plain;
    if (url === undefined || url === "") return { reason };
    const urls = { brokerServiceUrl: plain, brokerServiceUrlTls: tls };
    return { reason, assigned: targetOf(urls, target, isProxied) };
  }
  if (command.kind !== "topicMigrated") return undefined;
  const reason = new ConnectionError("the topic has migrated to another cluster");
  return { reason, migratedTo: targetOf(command.body, target, false) };
}
