import { expect, test } from "vitest";
import { loadScenario, simulate } from "@sluice/lab";

const BY_HUNDREDS = "max: 2000, min: 1000, rampUpDuration: 10s";

/** Calls such as "0:500 3:all": what is asked for in which second, by a pool of one. */
async function ceilings(rateLimit: string, asks: string): Promise<string> {
  const calls = asks.split(" ").map((each) => {
    const [t, ask] = each.split(":");
    return `{ t: ${t}, ask: ${ask} }`;
  });
  const text = `kind: ramp\nrateLimit: { ${rateLimit} }\ncalls: [${calls.join()}]`;
  const rows = (await simulate(loadScenario(text, "a.yaml"))).result.rows as { ceiling: number }[];
  return rows.map(({ ceiling }) => ceiling).join(" ");
}

test.each([
  ["min: 1, and modes: { relaxed: {} }", "max: 11", "5:0 6:0", "1 11"],
  [
    "rampUpDuration: 1s",
    "max: 11, modes: { goBackN: { coolDownPeriod: 0s } }",
    "0:all 1:all 3:0",
    "1 11 6",
  ],
  [
    "onlyIfUsed: { thresholdPercentage: 50 }",
    `${BY_HUNDREDS}, modes: { onlyIfUsed: {} }`,
    "0:500 1:549 2:0",
    "1000 1100 1100",
  ],
  [
    "goBackN: { thresholdPercentage: 50 }",
    `${BY_HUNDREDS}, modes: { goBackN: {} }`,
    "0:500 1:549 2:0",
    "1000 1100 1000",
  ],
  [
    "goBackN: { coolDownPeriod: 5s, rampDownPercentage: 50 }",
    `${BY_HUNDREDS}, modes: { goBackN: {} }`,
    "0:all 1:all 2:all 7:all 13:all",
    "1000 1100 1200 1300 1150",
  ],
])("a rateLimit block that leaves it out has %s", async (_, rateLimit, asks, expected) => {
  expect(await ceilings(rateLimit, asks)).toBe(expected);
});
