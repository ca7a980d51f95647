import { loadScenario, reportLines, simulate } from "@sluice/lab";

// 100 messages arrive at once, the limit is 10 a second: how long is their sender paused?
const text = `kind: bucket
bucket: { rate: 10, capacity: 50, initialTokens: 50 }
steps:
  - { op: charge, n: 100 }
  - { op: pauseMs }
`;
const simulation = await simulate(loadScenario(text, "burst.yaml"));
for (const line of reportLines(simulation)) console.log(line);
