/** Our client with Pulsar's own broker, alone and together with clients of other makers. */
import { describe } from "vitest";
import { ARRIVAL_CASES, CROSSING_CASES } from "./cases/arrival-cases.ts";
import { CaseRunner } from "./cases/case-runner.ts";
import { FOREIGN, SLUICE } from "./drivers/clients.ts";
import { realMissing, startReal } from "./servers/our-broker.ts";
import { SUBSCRIPTION_CASES } from "./cases/subscription-cases.ts";

const runner = new CaseRunner({ missing: await realMissing(), start: startReal });

describe("sluice", () => {
  for (const one of [...ARRIVAL_CASES, ...SUBSCRIPTION_CASES]) runner.put(one, SLUICE, SLUICE);
});

for (const other of FOREIGN) {
  describe(`from sluice to ${other.name}`, () => {
    for (const one of CROSSING_CASES) runner.put(one, SLUICE, other);
  });

  describe(`from ${other.name} to sluice`, () => {
    for (const one of CROSSING_CASES) runner.put(one, other, SLUICE);
  });
}
