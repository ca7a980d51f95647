import { ConfigError } from "@sluice/core";
import { loadScenario, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";
import { describe, expect, test } from "vitest";

interface Row {
  readonly t: number;
  readonly live: number;
  readonly members: Readonly<Record<string, { readonly size: number; readonly share: number }>>;
  readonly sum: number;
}

interface Stats {
  readonly maxSumRatio: number;
  readonly maxWindowRatio: number;
  readonly settledAfterS: readonly (number | null)[];
}

const pool = (events: string, more = "untilS: 30"): string =>
  `kind: pool\nrateLimit: { max: 1200, min: 1200 }\nevents: [${events}]\n${more}\n`;

const run = (text: string): Simulation => simulate(loadScenario(text, "a.yaml"));
const rowsOf = (text: string): Row[] => run(text).result.rows as Row[];
const statsOf = (text: string): Stats => run(text).result.stats as Stats;

const TWO = "{ t: 0, join: a }, { t: 0.1, join: b }";

test("rows come every sync interval, and each member's share is its part of the ceiling", () => {
  const rows = rowsOf(pool(TWO));
  expect(rows.map(({ t }) => t)).toEqual(Array.from({ length: 61 }, (_, i) => i / 2));
  expect(rows[0]).toEqual({ t: 0, live: 1, members: { a: { size: 0, share: 0 } }, sum: 0 });
  const half = { size: 2, share: 600 };
  expect(rows.at(-1)).toEqual({ t: 30, live: 2, members: { a: half, b: half }, sum: 1200 });
});

test("a pool without anybody has rows and nothing in them", () => {
  expect(rowsOf(pool("", "untilS: 1"))).toEqual([
    { t: 0, live: 0, members: {}, sum: 0 },
    { t: 0.5, live: 0, members: {}, sum: 0 },
    { t: 1, live: 0, members: {}, sum: 0 },
  ]);
});

test("a stopped process is not live and has no share, though its lease runs on", () => {
  const rows = rowsOf(pool(`${TWO}, { t: 20, pause: b, forS: 2 }`));
  expect(rows[42]).toMatchObject({
    t: 21,
    live: 1,
    sum: 600,
    members: { b: { size: 2, share: 0 } },
  });
  expect(rows[46]).toMatchObject({ t: 23, live: 2, sum: 1200 });
});

test("an event settles as long after its end as it takes until all is right again", () => {
  const { settledAfterS } = statsOf(
    pool(
      `${TWO}, { t: 20, crash: b }, { t: 40, storeDown: 8 }, { t: 60, flush: true }`,
      "untilS: 70",
    ),
  );
  const [first, second, crash, down, flush] = settledAfterS;
  expect(first).toBe(null);
  expect(second).toBeLessThanOrEqual(6);
  expect(crash).toBeGreaterThan(11);
  expect(crash).toBeLessThanOrEqual(13.5);
  expect(down).toBeLessThanOrEqual(6);
  expect(flush).toBe(0);
});

test.each([
  ["safe-share", 37.5],
  ["closed", 0],
  ["open", 1200],
])("with onStoreLoss %s two that have lost the store use %d", (policy, sum) => {
  const store = `store: { onStoreLoss: ${policy} }`;
  const rows = rowsOf(pool(`${TWO}, { t: 20, storeDown: 9 }`, `${store}\nuntilS: 30`));
  expect(rows[56]).toMatchObject({ t: 28, sum });
});

test("with joinOn safe-share a newcomer starts at once", () => {
  const rows = rowsOf(pool(TWO, "store: { joinOn: safe-share, maxMembers: 6 }\nuntilS: 5"));
  expect(rows[4]).toMatchObject({ t: 2, sum: 400 });
});

test("a second process of an id has a name of its own until it is turned away, and after the first is gone", () => {
  const rows = rowsOf(pool(`${TWO}, { t: 20, join: b }, { t: 21, crash: b }`, "untilS: 40"));
  expect(Object.keys(rows[40]?.members ?? {})).toEqual(["a", "b", "b#2"]);
  expect(Object.keys(rows[41]?.members ?? {})).toEqual(["a", "b"]);
  expect(rows[80]).toMatchObject({ live: 2, members: { "b#2": { size: 2, share: 600 } } });
});

test("by epochs shares are whole tokens, and in a second that spans two more may be granted", () => {
  const text = "kind: pool\nrateLimit: { max: 10, min: 10 }\npacing: epoch\nuntilS: 30\n";
  const three = `${text}events: [${TWO}, { t: 0.2, join: c }]\n`;
  const shares = rowsOf(three).at(-1)?.members ?? {};
  expect(Object.values(shares).map(({ share }) => share)).toContain(4);
  expect(rowsOf(three).at(-1)?.sum).toBe(10);
  expect(statsOf(three).maxWindowRatio).toBeGreaterThan(1.05);
  expect(rowsOf(`${three}division: floor\n`).at(-1)?.sum).toBe(9);
});

test("a ramp is climbed by all together, and a newcomer starts where they are", () => {
  const text = "kind: pool\nrateLimit: { max: 100, min: 10, rampUpDuration: 9s }\nuntilS: 40\n";
  const rows = rowsOf(`${text}events: [{ t: 0, join: a }, { t: 30, join: b }]\n`);
  expect(rows[20]?.sum).toBeLessThan(100);
  expect(rows[58]?.sum).toBe(100);
  expect(rows[80]).toMatchObject({ sum: 100, members: { b: { size: 2, share: 50 } } });
});

test("the same seed gives the same run, another one another", () => {
  const text = pool(`${TWO}, { t: 9, join: c }`);
  const [one, again, other] = [text, text, `${text}seed: 2\n`].map((each) => statsOf(each));
  expect(one).toEqual(again);
  expect(one).not.toEqual(other);
});

test("a wall clock that is set changes nothing", () => {
  const plain = rowsOf(pool(TWO));
  expect(
    rowsOf(pool(`${TWO}, { t: 9, clockStep: a, s: 30 }, { t: 10, clockStep: b, s: -9000 }`)),
  ).toEqual(plain);
});

describe("a wrong scenario gets one line with file, line and what would be right", () => {
  const store = (settings: string): string => pool(TWO, `store: { ${settings} }\nuntilS: 30`);
  test.each([
    [
      "an unknown event",
      pool("{ t: 0, jion: a }"),
      3,
      /events\[0\] .*expected a map with t and one of join/,
    ],
    ["an event of two kinds", pool("{ t: 0, join: a, crash: b }"), 3, /crash is not known here/],
    ["no time", pool("{ join: a }"), 3, /events\[0\]\.t is missing; expected a number/],
    ["no id", pool("{ t: 0, join: 7 }"), 3, /join is 7; expected an id/],
    ["an odd id", pool('{ t: 0, join: "a b" }'), 3, /join is "a b"; expected an id/],
    ["a pause without end", pool("{ t: 0, join: a }, { t: 1, pause: a }"), 3, /forS is missing/],
    ["a flush that is none", pool("{ t: 0, flush: no }"), 3, /flush is "no"; expected true/],
    ["nobody", pool("{ t: 1, crash: a }"), 3, /events\[0\] is about a, which is not there then/],
    [
      "somebody who has gone",
      pool(`${TWO}, { t: 5, leave: b }, { t: 6, pause: b, forS: 1 }`),
      3,
      /events\[3\] is about b/,
    ],
    [
      "time that goes back",
      pool("{ t: 5, join: a }, { t: 4, join: b }"),
      3,
      /events\[1\] is at 4 s, before/,
    ],
    [
      "an event after the end",
      pool("{ t: 31, join: a }"),
      3,
      /is at 31 s; expected at most untilS, 30/,
    ],
    ["no end", "kind: pool\nrateLimit: { max: 1 }\nevents: []\n", 1, /untilS is missing; expected/],
    [
      "more than maxMembers",
      store("maxMembers: 1"),
      3,
      /makes 2 processes; expected at most maxMembers, 1/,
    ],
    [
      "a lease of a few syncs",
      store("leaseMs: 2000"),
      4,
      /store\.leaseMs is 2000; it must be at least 4 ×/,
    ],
    [
      "a stale age within the lease",
      store("staleMs: 5000"),
      4,
      /store\.staleMs is 5000; it must be at least 1\.25 ×/,
    ],
    [
      "an unknown policy",
      store("onStoreLoss: panic"),
      4,
      /"panic"; expected safe-share or closed or open/,
    ],
    [
      "too long a run",
      pool(TWO, "store: { syncIntervalMs: 1 }\nuntilS: 100000"),
      5,
      /untilS makes 100000000 rows/,
    ],
  ])("%s", (_, text, line, words) => {
    const error = errorOf(text);
    expect(error.message).toMatch(words);
    expect(error.source).toEqual({ file: "a.yaml", line });
    expect(error.message).not.toContain("\n");
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
