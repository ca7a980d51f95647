/** All clients through our gateway: to our broker, and to Pulsar's own. */
import { startGateway } from "@sluice/gateway";
import { describe } from "vitest";
import { ARRIVAL_CASES, CROSSING_CASES } from "./cases/arrival-cases.ts";
import type { Case } from "./cases/case.ts";
import { CaseRunner } from "./cases/case-runner.ts";
import { FLEX, FOREIGN, JAVA, PYTHON, SLUICE } from "./drivers/clients.ts";
import type { Driver } from "./drivers/driver.ts";
import { realMissing, startOurs, startReal } from "./servers/our-broker.ts";
import type { Partitions, TargetBroker } from "./servers/our-broker.ts";
import { SUBSCRIPTION_CASES } from "./cases/subscription-cases.ts";

/**
 * What a gateway could break: order, frames over several reads, reconnection, lookups of many topics. With
 * `INTEROP_ALL=1` all cases are run, which takes six minutes.
 */
const isAll = process.env["INTEROP_ALL"] === "1";
const CHOSEN = [/^single/, /megabyte/, /cut in the middle/, /several topics/];
const CHOSEN_OURS = [/^single/];

const PAIRS: readonly (readonly [Driver, Driver])[] = [
  [PYTHON, JAVA],
  [FLEX, JAVA],
];

/** A gateway on a free port, in front of a broker that ends with it. */
async function before(broker: TargetBroker): Promise<TargetBroker> {
  const gateway = await startGateway({
    listen: "pulsar://127.0.0.1:0",
    upstream: broker.serviceUrl,
  });
  return {
    serviceUrl: gateway.url,
    async close() {
      await gateway.close();
      await broker.close();
    },
  };
}

const UPSTREAMS = [
  { name: "our broker", missing: undefined, start: startOurs, chosen: CHOSEN_OURS },
  { name: "Pulsar's own broker", missing: await realMissing(), start: startReal, chosen: CHOSEN },
];

function isRun({ name }: Case, chosen: readonly RegExp[]): boolean {
  return isAll || chosen.some((one) => one.test(name));
}

for (const { name, missing, start, chosen } of UPSTREAMS)
  describe(`through the gateway to ${name}`, () => {
    const runner = new CaseRunner({
      missing,
      start: async (partitions: Partitions) => before(await start(partitions)),
    });
    for (const client of [SLUICE, ...FOREIGN])
      describe(client.name, () => {
        for (const one of [...ARRIVAL_CASES, ...SUBSCRIPTION_CASES])
          if (isRun(one, chosen)) runner.put(one, client, client);
      });

    for (const [producer, consumer] of isAll ? PAIRS : [])
      describe(`from ${producer.name} to ${consumer.name}`, () => {
        for (const one of CROSSING_CASES) runner.put(one, producer, consumer);
      });
  });
