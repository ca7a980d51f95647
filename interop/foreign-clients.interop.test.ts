/** Clients of other makers with our broker; with `INTEROP_TARGET=real` with Pulsar's own. */
import { describe } from "vitest";
import { ARRIVAL_CASES, CROSSING_CASES } from "./cases/arrival-cases.ts";
import { CaseRunner } from "./cases/case-runner.ts";
import { FLEX, GO, PYTHON } from "./drivers/clients.ts";
import { untilFound } from "./programs/found.ts";
import { startTarget, targetMissing } from "./servers/our-broker.ts";
import { SUBSCRIPTION_CASES } from "./cases/subscription-cases.ts";

const isAll = process.env["INTEROP_ALL"] === "1";

// The Java client, which takes longest to be fetched, has a file of its own.
await untilFound(["python", "flex", "go"]);
const runner = new CaseRunner({ missing: await targetMissing(), start: startTarget });

for (const client of [PYTHON, FLEX, GO])
  describe(client.name, () => {
    for (const one of [...ARRIVAL_CASES, ...SUBSCRIPTION_CASES]) runner.put(one, client, client);
  });

// Our own client is crossed with each of these in both directions, in `our-client.interop.test.ts`.
for (const [producer, consumer] of [
  [PYTHON, FLEX],
  [PYTHON, GO],
] as const)
  describe.skipIf(!isAll)(`from ${producer.name} to ${consumer.name}`, () => {
    for (const one of CROSSING_CASES) runner.put(one, producer, consumer);
  });
