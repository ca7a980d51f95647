import { ConfigError } from "@sluice/core";
import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";
import { describe, expect, test } from "vitest";
import { counted, percent } from "../src/report/words.ts";

interface Row {
  readonly time: number;
  readonly offered: number;
  readonly sent: number;
  readonly ok: number;
  readonly busy: number;
  readonly throttled: number;
  readonly limit: number | null;
}

const run = (text: string): Promise<Simulation> => simulate(loadScenario(text, "a.yaml"));

const overload = (keys: string, capacity = "[{ fromS: 0, perSecond: 100 }]"): string =>
  `kind: overload\nrule: sluice\n${keys}\nservice: { responseMs: 50, capacity: ${capacity} }\n`;

const rowsOf = async (text: string): Promise<unknown> => (await run(text)).result.rows;
const goodput = async (text: string): Promise<number> =>
  ((await run(text)).result.stats as { goodputRatio: number }[])[0]?.goodputRatio ?? 0;

const DIP =
  "[{ fromS: 0, perSecond: 400 }, { fromS: 5, perSecond: 80 }, { fromS: 25, perSecond: 400 }]";

test("rows are seconds, in which everything offered is sent or throttled, and taken or busy", async () => {
  const { result } = await run(overload("offeredPerSecond: 200\ndurationS: 40", DIP));
  const rows = result.rows as Row[];
  expect(rows.map(({ time }) => time)).toEqual(Array.from({ length: 40 }, (_, time) => time));
  for (const { offered, sent, ok, busy, throttled } of rows) {
    expect(sent + throttled).toBe(offered);
    expect(ok + busy).toBe(sent);
  }
  const offered = rows.reduce((sum, row) => sum + row.offered, 0);
  expect(offered).toBe(200 * 40);
});

test("each capacity has its figures", async () => {
  const { result } = await run(overload("offeredPerSecond: 200\ndurationS: 40", DIP));
  const stats = result.stats as { fromS: number; recoveredAfterS: number | null }[];
  expect(stats.map(({ fromS }) => fromS)).toEqual([0, 5, 25]);
  expect(stats[0]).toEqual({
    fromS: 0,
    goodputRatio: 1,
    busyPerSecond: 0,
    recoveredAfterS: 0,
    jain: 1,
  });
  expect(stats[2]?.recoveredAfterS).toBeLessThanOrEqual(8);
});

test("a service that takes nothing has no goodput, and never recovers", async () => {
  const text = overload("offeredPerSecond: 50\ndurationS: 5", "[{ fromS: 0, perSecond: 0 }]");
  const [stats] = (await run(text)).result.stats as { goodputRatio: number | null }[];
  expect(stats).toMatchObject({ goodputRatio: null });
});

test.each(["table", "prose"])(
  "rule %s throttles worse than ours, and can be compared",
  async (rule) => {
    const text = overload(
      "offeredPerSecond: 500\ndurationS: 100",
      "[{ fromS: 0, perSecond: 200 }]",
    );
    expect(await goodput(text)).toBeGreaterThan(0.93);
    expect(await goodput(text.replace("rule: sluice", `rule: ${rule}`))).toBeLessThan(0.7);
  },
);

test("several clients share what is offered", async () => {
  const { result } = await run(
    overload("clients: 4\nofferedPerSecond: 200\ndurationS: 3", DIP.slice(0, 30) + "]"),
  );
  expect((result.rows as Row[]).map(({ offered }) => offered)).toEqual([200, 200, 200]);
});

test("another seed gives another run, the same one the same", async () => {
  const text = overload(
    "offeredPerSecond: 200\ndurationS: 20",
    DIP.replace(/, { fromS: 25.*/, "]"),
  );
  const [one, again, other] = [
    await rowsOf(text),
    await rowsOf(text),
    await rowsOf(`${text}seed: 2\n`),
  ];
  expect(one).toEqual(again);
  expect(one).not.toEqual(other);
});

test("a service that never answers costs nothing to wait for, and its second is counted", async () => {
  const text = overload("offeredPerSecond: 1000\ndurationS: 3").replace(
    "responseMs: 50",
    "responseMs: 1000000000000",
  );
  const rows = (await run(text)).result.rows as Row[];
  expect(rows.map(({ offered, ok }) => [offered, ok >= 100])).toEqual([
    [1000, true],
    [1000, true],
    [1000, true],
  ]);
});

test("a report has a line for each phase, and the chart shows capacity and limit", async () => {
  const simulation = await run(overload("offeredPerSecond: 200\ndurationS: 40", DIP));
  const lines = [...reportLines(simulation)].join("\n").split("\n");
  expect(lines.at(-3)).toBe(
    "from 0 s: 100.0 % of what could be taken was taken, at least 99 % of it in every second; 0.0 busy answers a second",
  );
  expect(lines.at(-1)).toMatch(
    /^from 25 s: \d\d\.\d % of what could be taken was taken, at least 99 % of it in every second from (2[6-9]|3\d) s on; /,
  );
  const { series, subtitle } = simulation.run.chart();
  expect(series.map(({ label }) => label)).toEqual(["taken", "busy", "limit", "capacity"]);
  expect(subtitle).toContain("1 client,");
});

test("a phase that is not complete does not read as 100 %", () => {
  expect([0.9999, 1, 1.0004, 0.5].map(percent)).toEqual(["99.9 %", "100.0 %", "100.0 %", "50.0 %"]);
  expect([counted(1, "client"), counted(4, "client")]).toEqual(["1 client", "4 clients"]);
});

test("a throttle without a limit shows null in its rows, and no limit in its table", async () => {
  const simulation = await run(overload("offeredPerSecond: 200\ndurationS: 40", DIP));
  const limits = (simulation.result.rows as Row[]).map(({ limit }) => limit);
  expect(limits[0]).toBe(null);
  expect(limits[20]).toBeGreaterThan(10);
  expect(limits[20]).toBeLessThan(200);
  expect([...reportLines(simulation)][2]).toMatch(/ no limit$/);
});

const LOAD = "offeredPerSecond: 10\ndurationS: 10";

describe("a wrong scenario gets one line with file, line and what would be right", () => {
  test.each([
    ["an unknown rule", "kind: overload\nrule: best\n", 2, /"best"; expected table or prose or/],
    ["no load", overload("durationS: 10"), 1, /offeredPerSecond is missing; expected a number/],
    ["no clients", overload(`clients: 0\n${LOAD}`), 3, /clients is 0; expected a whole number/],
    ["no capacity", overload(LOAD, "[]"), 5, /capacity does not begin at 0; expected/],
    ["a late start", overload(LOAD, "[{ fromS: 1, perSecond: 1 }]"), 5, /does not begin at 0/],
    [
      "time that goes back",
      overload(LOAD, "[{ fromS: 0, perSecond: 1 }, { fromS: 0, perSecond: 2 }]"),
      5,
      /capacity\[1\]\.fromS is 0; expected more than 0/,
    ],
    [
      "a capacity after the end",
      overload(LOAD, "[{ fromS: 0, perSecond: 1 }, { fromS: 10, perSecond: 2 }]"),
      5,
      /fromS is 10; expected less than durationS/,
    ],
    [
      "too many requests",
      overload("offeredPerSecond: 1000000\ndurationS: 1000"),
      4,
      /durationS comes to 1000000000 requests .*at most 40000000/,
    ],
    [
      "too many seconds for its clients",
      overload("clients: 1000\nofferedPerSecond: 1\ndurationS: 100000"),
      5,
      /durationS is 100000; expected at most 10000 with 1000 clients/,
    ],
    [
      "too many requests for our rule",
      "kind: busy\nrule: sluice\noffered: { shape: exponential_grow, start: 100 }\nbusy: { shape: steady, start: 1 }\n",
      3,
      /offered comes to \d+ requests; at most 50000000/,
    ],
  ])("%s", (_, text, line, words) => {
    const error = errorOf(text);
    expect(error.message).toMatch(words);
    expect(error.source).toEqual({ file: "a.yaml", line });
  });
});

function errorOf(text: string): ConfigError {
  try {
    loadScenario(text, "a.yaml");
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("the scenario was taken for right");
}
