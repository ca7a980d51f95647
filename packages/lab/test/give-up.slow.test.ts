import { ConfigError } from "@sluice/core";
import { loadScenario, simulate } from "@sluice/lab";
import { expect, test } from "vitest";

const scenario = (client: string, service: string, keys = ""): string =>
  `kind: concurrency\n${keys}client: ${client}\nservice: ${service}\n`;

const IMPOSSIBLE: readonly [string, string, RegExp][] = [
  [
    "answers that take no time",
    scenario("{ durationS: 1 }", "{ delayMs: 0 }", "timerQuantumMs: 0\n"),
    /time stands still: more than 5000000 events at one instant; gave up 0 s into the run/,
  ],
  [
    "a queue without end",
    scenario(
      "{ durationS: 100, timeoutMs: 500, backoffMs: [0] }",
      "{ workers: 0, serviceMs: 1 }",
      "algorithm: 800000\n",
    ),
    /more than 3000000 attempts wait in the service; gave up [\d.]+ s into the run/,
  ],
  [
    "attempts that fail at once",
    scenario(
      "{ durationS: 1, timeoutMs: 0.001, backoffMs: [0] }",
      "{ delayMs: 1, concurrency: { limit: 1, action: drop } }",
      "algorithm: 100\ntimerQuantumMs: 0\n",
    ),
    /more than 3000000 attempts reach the service within a second; gave up 0\.\d+ s/,
  ],
  [
    "clients that have more under way than there is memory",
    scenario(
      "{ durationS: 100, clients: 10, timeoutMs: 90000 }",
      "{ delayMs: 50000 }",
      "algorithm: 1000000\n",
    ),
    /more than 3000000 events still to come; gave up 0 s into the run/,
  ],
];

test.each(IMPOSSIBLE)("%s: the run is given up, with a reason", (_, text, message) => {
  const attempt = (): unknown => {
    try {
      return simulate(loadScenario(text, "a.yaml"));
    } catch (error) {
      return error;
    }
  };
  const error = attempt();
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).message).toMatch(message);
});
