import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBroker } from "@sluice/gateway";
import type { IngressSettings } from "@sluice/gateway";
import { brokerProgram, untilFound } from "../programs/found.ts";
import type { RealBroker } from "./real-broker.ts";
import { sharedBroker } from "./shared-broker.ts";

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
export async function targetMissing(): Promise<string | undefined> {
  return isReal ? realMissing() : undefined;
}

/** Why Pulsar's own broker is not here, if it is not. Waits until it and all clients are looked for. */
export async function realMissing(): Promise<string | undefined> {
  await untilFound();
  const broker = brokerProgram();
  return "missing" in broker ? broker.missing : undefined;
}

export function startTarget(
  partitions: Partitions = {},
  limits: IngressSettings = {},
): Promise<TargetBroker> {
  return isReal ? startReal(partitions) : startOurs(partitions, limits);
}

/** With a folder, as it would run: what only memory holds is the easier half. */
export async function startOurs(
  partitions: Partitions,
  limits: IngressSettings = {},
): Promise<TargetBroker> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-broker-"));
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: { folder },
    partitions,
    limits,
  });
  return {
    serviceUrl: broker.url,
    async close() {
      await broker.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Pulsar's own, for anybody, which other tests use as well. */
export function openBroker(): Promise<RealBroker> {
  // With its usual second, the next consumer of a failover subscription sometimes gets nothing.
  return sharedBroker({ settings: { activeConsumerFailoverDelayTimeMillis: "0" } });
}

export async function startReal(partitions: Partitions): Promise<TargetBroker> {
  const broker = await openBroker();
  for (const [topic, count] of Object.entries(partitions))
    await broker.createPartitionedTopic(topic, count);
  // The broker stays for the tests of other files.
  return { serviceUrl: broker.serviceUrl, close: async () => {} };
}
