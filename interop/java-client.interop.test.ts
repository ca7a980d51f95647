/** The Java client, alone and across from others, with our broker; see `foreign-clients.interop.test.ts`. */
import { describe } from "vitest";
import { ARRIVAL_CASES, CROSSING_CASES } from "./cases/arrival-cases.ts";
import { CaseRunner } from "./cases/case-runner.ts";
import { FLEX, GO, JAVA, PYTHON } from "./drivers/clients.ts";
import type { Driver } from "./drivers/driver.ts";
import { untilFound } from "./programs/found.ts";
import { startTarget, targetMissing } from "./servers/our-broker.ts";
import { SUBSCRIPTION_CASES } from "./cases/subscription-cases.ts";

const isAll = process.env["INTEROP_ALL"] === "1";

await untilFound(["java", "python", "flex", "go"]);
const runner = new CaseRunner({ missing: await targetMissing(), start: startTarget });

describe("java", () => {
  for (const one of [...ARRIVAL_CASES, ...SUBSCRIPTION_CASES]) runner.put(one, JAVA, JAVA);
});

const PAIRS: readonly (readonly [Driver, Driver])[] = [
  [PYTHON, JAVA],
  [JAVA, PYTHON],
];
const FURTHER_PAIRS: readonly (readonly [Driver, Driver])[] = [
  [FLEX, JAVA],
  [GO, JAVA],
];

for (const [producer, consumer] of isAll ? [...PAIRS, ...FURTHER_PAIRS] : PAIRS)
  describe(`from ${producer.name} to ${consumer.name}`, () => {
    for (const one of CROSSING_CASES) runner.put(one, producer, consumer);
  });
