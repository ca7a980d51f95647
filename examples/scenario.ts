import assert from "node:assert/strict";
import { loadScenario, reportLines, simulate } from "@sluice/lab";

const scenario = loadScenario(
  `kind: ramp
title: Two replicas ramp up together
rateLimit: { max: 110, min: 10, rampUpDuration: 10s, modes: { onlyIfUsed: { thresholdPercentage: 80 } } }
members: 2
calls:
  - { t: 0, ask: all }
  - { t: 1, use: 8 }
  - { t: 2, ask: all }
expect: { "rows[2].ceiling": 30 }
`,
  "ramp.yaml",
);
const simulation = await simulate(scenario);

assert.deepEqual(simulation.result.missed, []);
assert.deepEqual(
  [...reportLines(simulation)],
  [
    "Two replicas ramp up together",
    "time  ceiling  granted  used",
    "----  -------  -------  ----",
    "   0       10      5 5    10",
    "   1       20    10 10    16",
    "   2       30    15 15    30",
  ],
);
