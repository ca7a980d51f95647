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
  readonly minSumRatio: number | null;
  readonly meanSumRatio: number | null;
  readonly joinerWaitS: number | null;
  readonly settledAfterS: readonly (number | null)[];
}

const pool = (events: string, more = "untilS: 30"): string =>
  `kind: pool\nrateLimit: { max: 1200, min: 1200 }\nevents: [${events}]\n${more}\n`;

const run = (text: string): Promise<Simulation> => simulate(loadScenario(text, "a.yaml"));
const rowsOf = async (text: string): Promise<Row[]> => (await run(text)).result.rows as Row[];
const statsOf = async (text: string): Promise<Stats> => (await run(text)).result.stats as Stats;

const TWO = "{ t: 0, join: a }, { t: 0.1, join: b }";

/** How long a process waits that joins two others right after an event at 20 s. */
const waitAfter = async (event: string): Promise<number | null> =>
  (await statsOf(pool(`${TWO}, ${event}, { t: 20.2, join: c }`))).joinerWaitS;

/** Two processes, 2 s after they started. */
const startOn = async (joinOn: string): Promise<Row | undefined> =>
  (await rowsOf(pool(TWO, `store: { joinOn: ${joinOn}, maxMembers: 6 }\nuntilS: 5`)))[4];

const document = (events: string): Promise<Stats> =>
  statsOf(pool(events, "protocol: document\nuntilS: 60"));

test("rows come every sync interval, and each member's share is its part of the ceiling", async () => {
  const rows = await rowsOf(pool(TWO));
  expect(rows.map(({ t }) => t)).toEqual(Array.from({ length: 61 }, (_, i) => i / 2));
  expect(rows[0]).toEqual({ t: 0, live: 1, members: { a: { size: 0, share: 0 } }, sum: 0 });
  const half = { size: 2, share: 600 };
  expect(rows.at(-1)).toEqual({ t: 30, live: 2, members: { a: half, b: half }, sum: 1200 });
});

test("a pool without processes has rows and nothing in them", async () => {
  expect(await rowsOf(pool("", "untilS: 1"))).toEqual([
    { t: 0, live: 0, members: {}, sum: 0 },
    { t: 0.5, live: 0, members: {}, sum: 0 },
    { t: 1, live: 0, members: {}, sum: 0 },
  ]);
});

test("a paused process is not live and has no share, though its lease runs on", async () => {
  const rows = await rowsOf(pool(`${TWO}, { t: 20, pause: b, forS: 2 }`));
  expect(rows[42]).toMatchObject({
    t: 21,
    live: 1,
    sum: 600,
    members: { b: { size: 2, share: 0 } },
  });
  expect(rows[46]).toMatchObject({ t: 23, live: 2, sum: 1200 });
});

test("an event has settled when every member has its fair share under a lease, and stays so", async () => {
  const { settledAfterS } = await statsOf(
    pool(
      `${TWO}, { t: 20, crash: b }, { t: 40, storeDown: 8 }, { t: 60, flush: true }`,
      "untilS: 70",
    ),
  );
  const [first, second, crash, down, flush] = settledAfterS;
  expect(first).toBe(null);
  expect(second).toBeGreaterThan(5);
  expect(second).toBeLessThanOrEqual(7);
  expect(crash).toBeGreaterThan(5);
  expect(crash).toBeLessThanOrEqual(7.1);
  expect(down).toBeLessThanOrEqual(1);
  expect(flush).toBe(0);
});

test.each([
  ["safe-share", 37.5],
  ["closed", 0],
  ["open", 1200],
])("with onStoreLoss %s two that have lost the store use %d", async (policy, sum) => {
  const store = `store: { onStoreLoss: ${policy} }`;
  const rows = await rowsOf(pool(`${TWO}, { t: 20, storeDown: 9 }`, `${store}\nuntilS: 30`));
  expect(rows[56]).toMatchObject({ t: 28, sum });
});

test("a process that finds the store empty starts at once; a second one does so with joinOn safe-share only", async () => {
  expect(await startOn("agreement")).toMatchObject({
    t: 2,
    sum: 200,
    members: { b: { share: 0 } },
  });
  expect(await startOn("safe-share")).toMatchObject({ t: 2, sum: 400 });
});

test("a second process of an id has a name of its own until it is refused, and after the first is gone", async () => {
  const rows = await rowsOf(pool(`${TWO}, { t: 20, join: b }, { t: 21, crash: b }`, "untilS: 40"));
  expect(Object.keys(rows[40]?.members ?? {})).toEqual(["a", "b", "b#2"]);
  expect(Object.keys(rows[41]?.members ?? {})).toEqual(["a", "b"]);
  expect(rows[80]).toMatchObject({ live: 2, members: { "b#2": { size: 2, share: 600 } } });
});

test("by epochs shares are whole tokens, and in a second that spans two more may be granted", async () => {
  const text = "kind: pool\nrateLimit: { max: 10, min: 10 }\npacing: epoch\nuntilS: 30\n";
  const three = `${text}events: [${TWO}, { t: 0.2, join: c }]\n`;
  const shares = (await rowsOf(three)).at(-1)?.members ?? {};
  expect(Object.values(shares).map(({ share }) => share)).toContain(4);
  expect((await rowsOf(three)).at(-1)?.sum).toBe(10);
  expect((await statsOf(three)).maxWindowRatio).toBeGreaterThan(1.05);
  expect((await rowsOf(`${three}division: floor\n`)).at(-1)?.sum).toBe(9);
});

test("a ramp is climbed by all members together, and a joiner starts at their level", async () => {
  const text = "kind: pool\nrateLimit: { max: 100, min: 10, rampUpDuration: 9s }\nuntilS: 40\n";
  const rows = await rowsOf(`${text}events: [{ t: 0, join: a }, { t: 30, join: b }]\n`);
  expect(rows[16]?.sum).toBeLessThan(100);
  expect(rows[58]?.sum).toBe(100);
  expect(rows[80]).toMatchObject({ sum: 100, members: { b: { size: 2, share: 50 } } });
});

test("the same seed gives the same run, another one another", async () => {
  const text = pool(`${TWO}, { t: 9, join: c }`);
  const [one, again, other] = await Promise.all([text, text, `${text}seed: 2\n`].map(statsOf));
  expect(one).toEqual(again);
  expect(one).not.toEqual(other);
});

test("the wall clock of a process changes nothing: no member reads it", async () => {
  const plain = await rowsOf(pool(TWO));
  expect(
    await rowsOf(pool(`${TWO}, { t: 9, clockStep: a, s: 30 }, { t: 10, clockStep: b, s: -9000 }`)),
  ).toEqual(plain);
});

test("the store's clock is stepped by its name: a leap of an hour makes the store forget, and a joiner wait", async () => {
  expect(await waitAfter("{ t: 20, clockStep: a, s: 3600 }")).toBeLessThan(3);
  expect(await waitAfter("{ t: 20, clockStep: store, s: 3600 }")).toBeGreaterThan(5);
});

describe("with protocol document", () => {
  test("a joiner starts when all report one size, and that size is the number of processes", async () => {
    expect(await document(`${TWO}, { t: 20, join: c }`)).toMatchObject({ maxSumRatio: 1 });
    expect((await document(`${TWO}, { t: 20, join: c }`)).joinerWaitS).toBeLessThan(2);
  });

  test("a share that was given back is never used again", async () => {
    expect(await document(`${TWO}, { t: 20, leave: b }`)).toMatchObject({
      minSumRatio: 0.5,
      settledAfterS: [0.003, 1.005, null],
    });
  });

  test("a process that joins before a crashed one is stale never starts, and the others use less for ever", async () => {
    const events = `${TWO}, { t: 0.2, join: c }, { t: 20, crash: c }, { t: 22, join: d }`;
    expect((await document(events)).joinerWaitS).toBe(null);
    expect((await rowsOf(pool(events, "protocol: document\nuntilS: 60"))).at(-1)?.sum).toBe(600);
  });

  test("a process whose wall clock is ahead by the stale age removes the others, and keeps a joiner out", async () => {
    const [join, step] = ["{ t: 20.7, join: c }", "{ t: 20, clockStep: a, s: 60 }"];
    expect((await document(`${TWO}, ${join}`)).joinerWaitS).toBeLessThan(2);
    expect((await document(`${TWO}, ${step}, ${join}`)).joinerWaitS).toBe(null);
  });
});

test("a process that is restarted with its id is accepted when the lease of the first has ended", async () => {
  const rows = await rowsOf(pool(`${TWO}, { t: 20, restart: b }`, "untilS: 30"));
  expect(rows[44]?.members).toEqual({ a: { size: 2, share: 600 } });
  expect(rows[60]).toMatchObject({ live: 2, sum: 1200, members: { b: { size: 2, share: 600 } } });
});

test("after a failover to older data no share grows for one learning time", async () => {
  expect(await waitAfter("{ t: 20.1, failover: true, lagS: 2 }")).toBeGreaterThan(5);
});

test("limits that are set reach every member within a sync", async () => {
  const rows = await rowsOf(pool(`${TWO}, { t: 20, limits: { max: 600, min: 600 } }`));
  expect(rows[39]?.sum).toBe(1200);
  expect(rows[42]?.sum).toBe(600);
});

test("a member that asks for less lends the rest, and gets it back when it asks for all", async () => {
  const rows = await rowsOf(
    pool(`${TWO}, { t: 10, demand: a, asks: 60 }, { t: 20, demand: a }`, "untilS: 30"),
  );
  expect(rows[38]?.members["b"]?.share).toBeGreaterThan(1000);
  expect(rows[60]?.members).toEqual({ a: { size: 2, share: 600 }, b: { size: 2, share: 600 } });
});

test("what no member wants stays where it is: a burst after an idle time finds a share", async () => {
  const rows = await rowsOf(
    pool(`${TWO}, { t: 10, demand: a, asks: 0 }, { t: 10, demand: b, asks: 0 }`, "untilS: 20"),
  );
  expect(rows[40]?.members).toEqual({ a: { size: 2, share: 600 }, b: { size: 2, share: 600 } });
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
    [
      "no such process",
      pool("{ t: 1, crash: a }"),
      3,
      /events\[0\] is about a, which is not there then/,
    ],
    [
      "a process that has gone",
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
      /store\.leaseMs is 2000; it must be at least 5 ×/,
    ],
    [
      "a stale age within the lease",
      store("staleMs: 5000"),
      4,
      /store\.staleMs is 5000; it must be at least 1\.05 ×/,
    ],
    [
      "an unknown policy",
      store("onStoreLoss: panic"),
      4,
      /"panic"; expected safe-share or closed or open/,
    ],
    [
      "a failover to data from before the start",
      pool("{ t: 1, failover: true, lagS: 2 }"),
      3,
      /events\[0\] has a lag of 2 s; expected at most t, 1/,
    ],
    [
      "more processes than are run",
      pool(
        `{ t: 0, join: a }, ${Array.from({ length: 10_000 }, () => "{ t: 1, restart: a }").join()}`,
        "untilS: 1",
      ),
      3,
      /events\[10000\] starts process 10001; expected at most 10000/,
    ],
    ["an unknown protocol", pool(TWO, "protocol: raft\nuntilS: 1"), 4, /sluice or document/],
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
