import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";
import { expect, test } from "vitest";

const run = (events: string, untilS = 30): Promise<Simulation> =>
  simulate(
    loadScenario(
      `kind: pool\nrateLimit: { max: 1200, min: 1200 }\nevents: [${events}]\nuntilS: ${untilS}\n`,
      "a.yaml",
    ),
  );

const linesOf = (simulation: Simulation): string[] =>
  [...reportLines(simulation)].join("\n").split("\n");

const TWO = "{ t: 0, join: a }, { t: 0.1, join: web-1 }";

test("a row gives each member its share, and the size that they divide by once", async () => {
  const lines = linesOf(await run(TWO));
  expect(lines.find((line) => /^ +25 /.test(line))).toMatch(/ 2 +1200 +2 {2}a=600 {2}web-1=600$/);
});

test("the report says for each event when the pool had settled, or that it had not in time", async () => {
  const lines = linesOf(await run(`${TWO}, { t: 20, storeDown: 8 }, { t: 28.1, crash: a }`));
  expect(lines.at(-5)).toMatch(/: at least 0\.\d+ of it, 0\.\d+ on average; joiners waited for /);
  expect(lines.at(-6)).toMatch(/^at most 1\.000 of the ceiling at any instant, 1\.00\d granted/);
  expect(lines.slice(-4)).toEqual([
    "0 s, join a: not settled before the next event",
    expect.stringMatching(/^0\.1 s, join web-1: settled \d\.\d s after it$/),
    "20 s, store down 8 s: not settled before the next event",
    "28.1 s, crash a: not settled before the end of the run",
  ]);
});

test("an event that lasts is settled some time after its end", async () => {
  const lines = linesOf(await run(`${TWO}, { t: 15, storeDown: 2 }`));
  expect(lines.at(-1)).toMatch(/^15 s, store down 2 s: settled \d\.\d s after its end$/);
});

test("the chart marks every event, and shades those that last", async () => {
  const { series, below, markers } = (
    await run(`${TWO}, { t: 20, pause: a, forS: 2 }`)
  ).run.chart();
  expect(markers).toEqual([
    { x: 0, label: "join a" },
    { x: 0.1, label: "join web-1" },
    { x: 20, label: "pause a 2 s", until: 22 },
  ]);
  const labels = [series, ...(below ?? []).map((panel) => panel.series)].map((panel) =>
    panel.map(({ label }) => label),
  );
  expect(labels).toEqual([
    ["granted", "sum of shares", "ceiling"],
    ["a", "web-1"],
    ["largest size in use", "live"],
  ]);
  expect(below?.[1]?.y).toEqual({ label: "members", isWhole: true });
});
