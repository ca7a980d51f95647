import { expect, test } from "vitest";
import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";

const run = (text: string): Simulation => simulate(loadScenario(text, "a.yaml"));

const bucket = (steps: string, expected = "{}"): string =>
  `kind: bucket\nbucket: { rate: 10, initialTokens: 0 }\nexpect: ${expected}\nsteps:\n${steps}`;

test("a million steps are run exactly", () => {
  const { result } = run(
    `kind: bucket
bucket: { rate: 7, capacity: 1000, initialTokens: 0 }
steps:
  - { repeat: 500000, steps: [{ advanceMs: 17.3 }, { op: charge, n: 1 }] }
  - { op: tokens }`,
  );
  // 500,000 × 17.3 ms at 7 a second, less 500,000.
  expect(result.rows).toEqual([{ step: 1_000_001, op: "tokens", value: 60_550 - 500_000 }]);
});

test("drawing a chart does not change what is drawn", () => {
  const simulation = run(bucket("  - { repeat: 9, steps: [{ advanceMs: 9 }, { op: tokens }] }"));
  const before = JSON.stringify(simulation.result);
  expect(simulation.svg()).toContain("<svg");
  expect(JSON.stringify(simulation.result)).toBe(before);
});

test("a bucket's chart also shows what its resolution holds back", () => {
  const scenario = loadScenario(
    `kind: bucket
bucket: { rate: 1000, initialTokens: 0, resolutionMs: 16 }
steps: [{ repeat: 3, steps: [{ advanceMs: 9 }, { op: tokens }] }]`,
    "a.yaml",
  );
  const [balance] = scenario.run().chart().series;
  expect(balance?.points.map(({ y }) => y)).toEqual([0, 9, 18, 27]);
});

test("every expectation that is missed is told at once", () => {
  const expected = `{ "rows[0].value": 2, "rows[1].value": [1, 3], "rows[2]": 1, "rows[0].op": tokens }`;
  const { result } = run(bucket("  - { op: tokens }\n  - { op: pauseMs }", expected));
  expect(result.missed).toEqual([
    { path: "rows[0].value", expected: 2, found: 0 },
    { path: "rows[1].value", expected: [1, 3], found: 100 },
    { path: "rows[2]", expected: 1, found: undefined },
  ]);
});

test("a range includes its ends, and a list is compared as one", () => {
  const ends = run(bucket("  - { op: pauseMs }", `{ "rows[0].value": [100, 100] }`));
  const list = run(
    `kind: ramp\nrateLimit: { max: 9, min: 9 }\nmembers: 2\ndivision: floor
calls: [{ t: 0, ask: all }]\nexpect: { "rows[0].granted": [4, 4] }`,
  );
  expect([...ends.result.missed, ...list.result.missed]).toEqual([]);
});

test("an expectation cannot reach what is not in the result", () => {
  const { result } = run(bucket("  - { op: tokens }", "{ rows.constructor.name: Array }"));
  expect(result.missed).toHaveLength(1);
});

test("a report is a table that ends in its verdict and its misses", () => {
  const text = `kind: busy
title: A peer that is busy once
rule: table
offered: { shape: steady, start: 8 }
busy: { shape: flappy, start: 1, every: 5 }
expect: { verdict.speed: 3 }`;
  const lines = [...reportLines(run(text))];
  expect(lines.slice(0, 4)).toEqual([
    "A peer that is busy once",
    "time  rps  throttled  busy    limit",
    "----  ---  ---------  ----  -------",
    "   1    8          0     0  9999999",
  ]);
  expect(lines.slice(-2)).toEqual([
    "converged at time=10, speed=0",
    "missed: verdict.speed: expected 3, found 0",
  ]);
});

test("traffic that decreases ends at nothing", () => {
  const { result } = run(
    `kind: busy
rule: table
offered: { shape: linear_decrease, start: 250, step: 100 }
busy: { shape: steady, start: 0 }`,
  );
  const sent = (result.rows as { rps: number }[]).map(({ rps }) => rps);
  expect(sent.slice(0, 4)).toEqual([150, 50, 0, 0]);
});
