import { ConfigError } from "@sluice/core";
import { loadScenario, simulate } from "@sluice/lab";
import { expect, test } from "vitest";

test("a scenario that would not end is given up with one line", async () => {
  const text = `kind: concurrency
algorithm: 100
timerQuantumMs: 0
client: { durationS: 1, timeoutMs: 0.001, backoffMs: [0] }
service: { delayMs: 1, concurrency: { limit: 1, action: drop } }
`;
  let error: unknown;
  try {
    await simulate(loadScenario(text, "a.yaml"));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).message).toMatch(
    /^too much happens: more than 3000000 attempts reach the service within a second; gave up 0\.\d+ s into the run; make [^\n]+$/,
  );
});
