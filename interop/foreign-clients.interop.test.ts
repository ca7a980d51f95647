/** Clients of other makers with our broker; with `INTEROP_TARGET=real` with Pulsar's own. */
import { describe } from "vitest";
import { ARRIVAL_CASES, CROSSING_CASES } from "./arrival-cases.ts";
import { FLEX, FOREIGN, GO, JAVA, PYTHON } from "./clients.ts";
import type { Driver } from "./driver.ts";
import { startTarget, targetMissing } from "./our-broker.ts";
import { CaseRunner } from "./case-runner.ts";
import { SUBSCRIPTION_CASES } from "./subscription-cases.ts";

const PAIRS: readonly (readonly [Driver, Driver])[] = [
  [PYTHON, JAVA],
  [JAVA, PYTHON],
  [FLEX, JAVA],
  [PYTHON, FLEX],
  [GO, JAVA],
  [PYTHON, GO],
];

const runner = new CaseRunner({ missing: targetMissing(), start: startTarget });

for (const client of FOREIGN)
  describe(client.name, () => {
    for (const one of [...ARRIVAL_CASES, ...SUBSCRIPTION_CASES]) runner.put(one, client, client);
  });

for (const [producer, consumer] of PAIRS)
  describe(`from ${producer.name} to ${consumer.name}`, () => {
    for (const one of CROSSING_CASES) runner.put(one, producer, consumer);
  });
