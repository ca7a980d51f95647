/** Addresses of brokers in commands other than lookups: a client that went there would go past us. */
import { encodeFrame } from "@sluice/pulsar/wire";
import type { CommandBodies, CommandOf } from "@sluice/pulsar/wire";
import type { RelayFacts } from "./relay-context.ts";

const NO_ADDRESS = {
  assignedBrokerServiceUrl: undefined,
  assignedBrokerServiceUrlTls: undefined,
};

/**
 * The frame without the address of the next broker: the client asks us for it by a lookup, as after any
 * close. Undefined if it has none.
 */
export function withoutAddress(
  command: CommandOf<"closeProducer" | "closeConsumer">,
): Buffer | undefined {
  const { assignedBrokerServiceUrl, assignedBrokerServiceUrlTls } = command.body;
  if (assignedBrokerServiceUrl === undefined && assignedBrokerServiceUrlTls === undefined)
    return undefined;
  return command.kind === "closeProducer"
    ? encodeFrame({ kind: command.kind, body: { ...command.body, ...NO_ADDRESS } })
    : encodeFrame({ kind: command.kind, body: { ...command.body, ...NO_ADDRESS } });
}

/** TOPIC_MIGRATED with our own address instead of the other cluster's. */
export function migratedToUs(
  body: CommandBodies["topicMigrated"],
  { serviceUrl, serviceUrlTls }: RelayFacts,
): Buffer {
  const urls = { brokerServiceUrl: serviceUrl, brokerServiceUrlTls: serviceUrlTls };
  return encodeFrame({ kind: "topicMigrated", body: { ...body, ...urls } });
}
