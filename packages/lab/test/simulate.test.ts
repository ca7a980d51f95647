import { expect, test } from "vitest";
import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";

const run = (text: string): Promise<Simulation> => simulate(loadScenario(text, "a.yaml"));

const bucket = (steps: string, expected = "{}"): string =>
  `kind: bucket\nbucket: { rate: 10, initialTokens: 0 }\nexpect: ${expected}\nsteps:\n${steps}`;

test("a million steps are run exactly", async () => {
  const { result } = await run(
    `kind: bucket
bucket: { rate: 7, capacity: 1000, initialTokens: 0 }
steps:
  - { repeat: 500000, steps: [{ advanceMs: 17.3 }, { op: charge, n: 1 }] }
  - { op: tokens }`,
  );
  // 500,000 × 17.3 ms at 7 a second, less 500,000.
  expect(result.rows).toEqual([{ step: 1_000_001, op: "tokens", value: 60_550 - 500_000 }]);
});

test("drawing a chart does not change what is drawn", async () => {
  const simulation = await run(
    bucket("  - { repeat: 9, steps: [{ advanceMs: 9 }, { op: tokens }] }"),
  );
  const before = JSON.stringify(simulation.result);
  expect(simulation.svg()).toContain("<svg");
  expect(JSON.stringify(simulation.result)).toBe(before);
});

/** The curve of a bucket's chart, as [ms, tokens]. */
async function balanceOf(
  bucketOptions: string,
  steps: string,
): Promise<[number, number | undefined][]> {
  const text = `kind: bucket\nbucket: ${bucketOptions}\nsteps: [${steps}]`;
  const [balance] = (await loadScenario(text, "a.yaml").run()).chart().series;
  expect(balance?.shape).toBe("line");
  return (balance?.points ?? []).map(({ x, y }) => [x, y]);
}

test("a bucket's chart draws the refill as a line up to the capacity, and spending as a drop", async () => {
  const steps = "{ advanceMs: 500 }, { op: charge, n: 8 }, { advanceMs: 2000 }";
  expect(await balanceOf("{ rate: 10, initialTokens: 0 }", steps)).toEqual([
    [0, 0],
    [500, 5],
    [500, -3],
    [1800, 10],
    [2500, 10],
  ]);
});

test("a bucket's chart shows parts of a token, and what the resolution holds back", async () => {
  const steps = "{ advanceMs: 0.5 }, { op: tokens }, { advanceMs: 9 }, { op: tokens }";
  expect(await balanceOf("{ rate: 1000, initialTokens: 0, resolutionMs: 16 }", steps)).toEqual([
    [0, 0],
    [0.5, 0.5],
    [9.5, 9.5],
  ]);
});

test("a change of rate is marked in a bucket's chart, and the refill goes on with it", async () => {
  const steps = "{ advanceMs: 500 }, { op: setRate, rate: 20 }, { advanceMs: 250 }";
  const options = "{ rate: 10, initialTokens: 0, capacity: 100 }";
  expect((await balanceOf(options, steps)).at(-1)).toEqual([750, 10]);
  const chart = (await run(`kind: bucket\nbucket: ${options}\nsteps: [${steps}]`)).run.chart();
  expect(chart.markers).toEqual([{ x: 500, label: "rate 20" }]);
});

test("all missed expectations are reported at once", async () => {
  const expected = `{ "rows[0].value": 2, "rows[1].value": [1, 3], "rows[2]": 1, "rows[0].op": tokens }`;
  const { result } = await run(bucket("  - { op: tokens }\n  - { op: pauseMs }", expected));
  expect(result.missed).toEqual([
    { path: "rows[0].value", expected: 2, found: 0 },
    { path: "rows[1].value", expected: [1, 3], found: 100 },
    {
      path: "rows[2]",
      expected: 1,
      found: undefined,
      known: { path: "rows", names: ["[0] to [1]"] },
    },
  ]);
});

test("a range includes its ends, and a list is compared as one", async () => {
  const ends = await run(bucket("  - { op: pauseMs }", `{ "rows[0].value": [100, 100] }`));
  const list = await run(
    `kind: ramp\nrateLimit: { max: 9, min: 9 }\nmembers: 2\ndivision: floor
calls: [{ t: 0, ask: all }]\nexpect: { "rows[0].granted": [4, 4] }`,
  );
  expect([...ends.result.missed, ...list.result.missed]).toEqual([]);
});

const POOL = `kind: pool
rateLimit: { max: 900, min: 900 }
events: [{ t: 0, join: web-1 }, { t: 0, join: web.2 }, { t: 0, join: b_3 }]
untilS: 10
`;

test("an expectation names any member, however it is called", async () => {
  const names = ["members.web-1", "members['web.2']", 'members[\\"web.2\\"]', "members.b_3"];
  const lines = names.map((name) => `  "rows[20].${name}.share": 300\n`);
  expect((await run(`${POOL}expect:\n${lines.join("")}`)).result.missed).toEqual([]);
});

test("a miss that leads nowhere lists what can be named", async () => {
  const expected = `expect: { "rows[20].members.web-2.share": 300 }\n`;
  expect([...reportLines(await run(`${POOL}${expected}`))].at(-1)).toBe(
    'missed: rows[20].members.web-2.share: expected 300, nothing is there; rows[20].members has web-1, ["web.2"], b_3',
  );
});

test("two numbers where a list stands may come in any order", async () => {
  const { result } = await run(
    `kind: ramp\nrateLimit: { max: 9, min: 9 }\nmembers: 2
calls: [{ t: 0, ask: all }]\nexpect: { "rows[0].granted": [5, 4] }`,
  );
  expect(result.missed).toEqual([]);
});

test("an expectation cannot reach what is not in the result", async () => {
  const { result } = await run(bucket("  - { op: tokens }", "{ rows.constructor.name: Array }"));
  expect(result.missed).toHaveLength(1);
});

test("a report is a table that ends in its verdict and its misses", async () => {
  const text = `kind: busy
title: A peer that is busy once
rule: table
offered: { shape: steady, start: 8 }
busy: { shape: flappy, start: 1, every: 5 }
expect: { verdict.speed: 3 }`;
  const lines = [...reportLines(await run(text))];
  expect(lines.slice(0, 4)).toEqual([
    "A peer that is busy once",
    "time  rps  throttled  busy     limit",
    "----  ---  ---------  ----  --------",
    "   1    8          0     0  no limit",
  ]);
  expect(lines.slice(-2)).toEqual([
    "converged at time=10, speed=0",
    "missed: verdict.speed: expected 3, found 0",
  ]);
});

test("traffic that decreases ends at nothing", async () => {
  const { result } = await run(
    `kind: busy
rule: table
offered: { shape: linear_decrease, start: 250, step: 100 }
busy: { shape: steady, start: 0 }`,
  );
  const sent = (result.rows as { rps: number }[]).map(({ rps }) => rps);
  expect(sent.slice(0, 4)).toEqual([150, 50, 0, 0]);
});

test("where there is no limit a chart has no line for it, and no number stands for it", async () => {
  const text = `kind: busy\nrule: table\noffered: { shape: steady, start: 8 }
busy: { shape: flappy, start: 4, every: 3 }`;
  const { run: done, svg } = await run(text);
  const limit = done.chart().series.find(({ label }) => label === "limit");
  expect(limit?.points.slice(0, 4).map(({ y }) => y === undefined)).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(svg()).not.toMatch(/10M|9,?999,?999/);
});
