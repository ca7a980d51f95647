import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBroker } from "@sluice/gateway";
import { readFound } from "./found.ts";
import { RealBroker } from "./real-broker.ts";

/** The broker that clients are tested against. */
export interface TargetBroker {
  readonly serviceUrl: string;
  close(): Promise<void>;
}

/** Topics that have partitions, and how many. */
export type Partitions = Readonly<Record<string, number>>;

/** `INTEROP_TARGET=real` puts the same tests to Pulsar's own broker, which proves the tests. */
const isReal = process.env["INTEROP_TARGET"] === "real";

/** Why there is no broker to test against, if there is none. */
export function targetMissing(): string | undefined {
  return isReal ? realMissing() : undefined;
}

/** Why Pulsar's own broker is not here, if it is not. */
export function realMissing(): string | undefined {
  const { broker } = readFound();
  return "missing" in broker ? broker.missing : undefined;
}

export function startTarget(partitions: Partitions = {}): Promise<TargetBroker> {
  return isReal ? startReal(partitions) : startOurs(partitions);
}

/** With a folder, as it would run: what only memory holds is the easier half. */
async function startOurs(partitions: Partitions): Promise<TargetBroker> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-broker-"));
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: { folder },
    partitions,
  });
  return {
    serviceUrl: broker.url,
    async close() {
      await broker.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function startReal(partitions: Partitions): Promise<TargetBroker> {
  // With its usual second, the next consumer of a failover subscription sometimes gets nothing.
  const settings = { activeConsumerFailoverDelayTimeMillis: "0" };
  const broker = await RealBroker.start({ settings });
  for (const [topic, count] of Object.entries(partitions))
    await broker.createPartitionedTopic(topic, count);
  return broker;
}
