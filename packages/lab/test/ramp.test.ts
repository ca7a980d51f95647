import { expect, test } from "vitest";
import { loadScenario, simulate } from "@sluice/lab";

const RELAXED = "relaxed: {}";
const SCHEDULED = "scheduled: {}";
const usedBy = (threshold: number): string => `onlyIfUsed: { thresholdPercentage: ${threshold} }`;
const backBy = (threshold: number): string =>
  `goBackN: { thresholdPercentage: ${threshold}, coolDownPeriod: 1s, rampDownPercentage: 100 }`;

/** Two members, 10 to 20 in ten seconds unless said otherwise; a dot is "all". */
interface Case {
  readonly mode: string;
  readonly bounds?: string;
  readonly members?: number;
  /** What is asked for; `+2` lets two seconds pass before the next, `+0` none, else one. */
  readonly asks: string;
  readonly deposits?: string;
  /** What every member gets. */
  readonly granted: string;
}

const FROM_15_TO_60 = "max: 60, min: 15";
const FROM_1_TO_2 = "max: 2, min: 1";

/** The cases that Numaflow's own tests hold, gaps in goBackN aside. */
const CASES: readonly Case[] = [
  {
    mode: RELAXED,
    bounds: FROM_15_TO_60,
    asks: ". .+0 . . . . . . . . . .",
    granted: "7 9 0 12 14 16 18 21 23 25 27 30",
  },
  {
    mode: RELAXED,
    bounds: FROM_15_TO_60,
    asks: "20 20 20 20 20 20 20 20",
    granted: "7 9 12 14 16 18 20 20",
  },
  {
    mode: RELAXED,
    bounds: FROM_1_TO_2,
    asks: ". . . . . . . . . . .+0 .",
    granted: "0 0 0 0 0 0 0 0 0 0 1 0",
  },
  {
    mode: RELAXED,
    bounds: FROM_1_TO_2,
    members: 1,
    asks: "5 5 5 5 5 5 5 5 5 5 5",
    granted: "1 1 1 1 1 1 1 1 1 1 2",
  },
  { mode: RELAXED, asks: "30 30 30 30 30 30 30 30 30 30 30", granted: "5 5 6 6 7 7 8 8 9 9 10" },
  {
    mode: RELAXED,
    asks: "1+0 2 1+0 3 1+0 4+2 1+0 10 2+0 . . . . . . 5 .",
    granted: "1 2 1 3 1 4 1 5 2 5 7 8 8 9 9 5 10",
  },
  { mode: SCHEDULED, asks: "2+2 2+2 .+2 2+2 .+2 2+2 .+2 .+2", granted: "2 2 7 2 9 2 10 10" },
  { mode: SCHEDULED, asks: "30 30+3 30+2 30+4 30 30", granted: "5 5 7 8 10 10" },
  {
    mode: SCHEDULED,
    bounds: FROM_15_TO_60,
    asks: ". .+0 . . . . . . . . . .",
    granted: "7 9 0 12 14 16 18 21 23 25 27 30",
  },
  { mode: usedBy(100), asks: ". . . . . . . . . . . .", granted: "5 5 6 6 7 7 8 8 9 9 10 10" },
  { mode: usedBy(100), asks: ". 4 2 . . . . . . . . .", granted: "5 4 2 5 6 6 7 7 8 8 9 9" },
  {
    mode: usedBy(100),
    asks: ". 4 2 . . . . . .",
    deposits: "1 1 1 1 1 1 1 1 1",
    granted: "5 4 2 5 5 5 5 5 5",
  },
  {
    mode: usedBy(90),
    asks: ". 4 2 . . . . . .",
    deposits: "1 1 1 1 1 1 1 1 1",
    granted: "5 4 2 5 5 5 5 5 5",
  },
  {
    mode: usedBy(80),
    asks: ". 4 2 . . . . . . . . .",
    deposits: "1 1 1 1 1 1 1 1 1 1 1 1",
    granted: "5 4 2 5 6 6 7 7 8 8 9 9",
  },
  {
    mode: usedBy(80),
    asks: ". 4 2 . . . . . . . . .",
    deposits: "1 1 1 1 2 1 2 1 1 1 1 1",
    granted: "5 4 2 5 6 6 6 6 7 7 8 8",
  },
  { mode: backBy(100), asks: ". . . . . . . . . . . .", granted: "5 5 6 6 7 7 8 8 9 9 10 10" },
  { mode: backBy(100), asks: ". 4 2 . . . . . . . . .", granted: "5 4 2 5 5 6 6 7 7 8 8 9" },
  {
    mode: backBy(100),
    asks: ". 4 2 . . . . .",
    deposits: "1 1 1 1 1 1 1 1",
    granted: "5 4 2 5 5 5 5 5",
  },
  {
    mode: backBy(80),
    asks: ". 4 2 . . . . . . . . .",
    deposits: "1 1 1 1 1 1 1 1 1 1 1 1",
    granted: "5 4 2 5 5 6 6 7 7 8 8 9",
  },
  {
    mode: backBy(80),
    asks: ". 4 2 . . . . . . . . .",
    deposits: "1 1 1 1 2 1 1 2 1 1 1 1",
    granted: "5 4 2 5 5 5 5 6 5 6 6 7",
  },
  {
    mode: backBy(100),
    asks: ". . . . . . . . . . . . . . . .",
    deposits: "0 0 0 0 0 0 0 0 0 8 8 8 8 7 7 6",
    granted: "5 5 6 6 7 7 8 8 9 9 9 8 8 7 7 6",
  },
  { mode: RELAXED, asks: "2+0 .+0 . .+0 3", deposits: "2 2 0 3 0", granted: "2 5 2 5 3" },
  { mode: RELAXED, asks: ".+0 .+0 .+0 .+0 .", deposits: "5 5 5 5 5", granted: "5 5 5 5 5" },
  { mode: RELAXED, asks: ". .+0 . .+0 .", deposits: "5 5 5 5 5", granted: "5 5 5 6 5" },
  { mode: SCHEDULED, asks: ". . . . .", deposits: "5 5 5 5 5", granted: "5 5 6 6 7" },
];

test.each(CASES)("$mode $asks gives $granted", async (each) => {
  const expected = each.granted.split(" ").map(Number);
  const rows = await rowsOf(scenarioOf(each));
  expect(rows.map(({ granted }) => granted[0])).toEqual(expected);
  for (const { granted } of rows) expect(new Set(granted).size).toBe(1);
});

test("a call that looks leaves what follows as it would have been", async () => {
  const settings = `kind: ramp\nrateLimit: { max: 110, min: 10, rampUpDuration: 10s, modes: { ${backBy(100)} } }\n`;
  const calls = ["{ t: 1, use: 10 }", "{ t: 2, use: 20 }", "{ t: 5, ask: all }"];
  const looks = ["{ t: 1 }", "{ t: 3 }", "{ t: 4 }", "{ t: 5 }"];
  const plain = await rowsOf(`${settings}calls: [${calls.join()}]`);
  const looked = await rowsOf(
    `${settings}calls: [${[looks[0], calls[0], calls[1], looks[1], looks[2], looks[3], calls[2]].join()}]`,
  );
  expect([looked[1], looked[2], looked[6]]).toEqual(plain);
  expect(looked.map(({ ceiling }) => ceiling)).toEqual([10, 10, 20, 30, 20, 10, 10]);
});

test("a pool that changes size within a second hands out no more than the ceiling", async () => {
  const rows = await rowsOf(
    `kind: ramp\nrateLimit: { max: 100, min: 100 }\ndivision: floor\ncalls:
  - { t: 0, ask: 60 }
  - { t: 0, members: 2, ask: all }
  - { t: 1, ask: 20 }
  - { t: 1, members: 1, ask: all }
  - { t: 2, members: 3, ask: all }`,
  );
  expect(rows.map(({ granted }) => granted)).toEqual([
    [60],
    [20, 20],
    [20, 20],
    [60],
    [33, 33, 33],
  ]);
});

test("with rotation a pool that changes size within a second still hands out the whole ceiling", async () => {
  const rows = await rowsOf(
    `kind: ramp\nrateLimit: { max: 11, min: 11 }\nmembers: 2\ncalls:
  - { t: 1, ask: 3 }
  - { t: 1, members: 1, ask: all }
  - { t: 2, ask: 3 }
  - { t: 2, members: 4, ask: all }`,
  );
  expect(rows.map(({ granted }) => granted)).toEqual([[3, 3], [5], [3], [2, 2, 2, 2]]);
});

test("a new size at the start of a second does not change how the last second is judged", async () => {
  const ceilings = [
    // 8 of 10 were used; among three there would have been no share of the other 2.
    "{ t: 0, ask: 4 }, { t: 1, members: 3, ask: all }",
    // All that was in a share was used; one alone would also have had the eleventh.
    "{ t: 0, ask: all }, { t: 1, ask: all }, { t: 2, members: 1, ask: all }",
  ].map(async (calls) => {
    const rateLimit = `{ max: 20, min: 10, rampUpDuration: 10s, modes: { ${usedBy(100)} } }`;
    return (
      await rowsOf(
        `kind: ramp\nrateLimit: ${rateLimit}\nmembers: 2\ndivision: floor\ncalls: [${calls}]`,
      )
    ).at(-1)?.ceiling;
  });
  expect(await Promise.all(ceilings)).toEqual([10, 12]);
});

test("rotation hands out the whole ceiling, and the rest to each member in turn", async () => {
  const calls = Array.from({ length: 6 }, (_, t) => `{ t: ${t}, ask: all }`).join();
  const rows = await rowsOf(
    `kind: ramp\nrateLimit: { max: 2, min: 2 }\nmembers: 3\ncalls: [${calls}]`,
  );
  for (const { granted } of rows) expect(granted.reduce((a, b) => a + b)).toBe(2);
  const totals = [0, 1, 2].map((rank) =>
    rows.reduce((sum, { granted }) => sum + (granted[rank] ?? 0), 0),
  );
  expect(totals).toEqual([4, 4, 4]);
});

test("a deposit beyond the grant mints nothing", async () => {
  const rows = await rowsOf(
    "kind: ramp\nrateLimit: { max: 10, min: 10 }\ncalls: [{ t: 0, ask: 5, deposit: 500 }, { t: 0, ask: all }]",
  );
  expect(rows.map(({ granted, used }) => [granted, used])).toEqual([
    [[5], 0],
    [[10], 10],
  ]);
});

test("scheduled mode counts from the second it was made in, resumed or not", async () => {
  const settings = ["", "constructedAt: 5", "resumeFrom: 14", "resumeFrom: 99"];
  const ceilings = settings.map(async (setting) => {
    const rateLimit = `{ max: 20, min: 10, rampUpDuration: 10s, modes: { ${SCHEDULED} } }`;
    const calls = "[{ t: 5, ask: all }]";
    return (await rowsOf(`kind: ramp\nrateLimit: ${rateLimit}\n${setting}\ncalls: ${calls}`))[0]
      ?.ceiling;
  });
  expect(await Promise.all(ceilings)).toEqual([15, 10, 19, 20]);
});

interface RampRow {
  readonly ceiling: number;
  readonly granted: readonly number[];
  readonly used: number;
}

async function rowsOf(text: string): Promise<RampRow[]> {
  return (await simulate(loadScenario(text, "case.yaml"))).result.rows as RampRow[];
}

function scenarioOf({
  mode,
  bounds = "max: 20, min: 10",
  members = 2,
  asks,
  deposits,
}: Case): string {
  const deposit = deposits?.split(" ");
  let t = 0;
  const calls = asks.split(" ").map((each, i) => {
    const [ask, pause = "1"] = each.split("+");
    const call = `{ t: ${t}, ask: ${ask === "." ? "all" : ask}, deposit: ${deposit?.[i] ?? 0} }`;
    t += Number(pause);
    return call;
  });
  return `kind: ramp
rateLimit: { ${bounds}, rampUpDuration: 10s, modes: { ${mode} } }
members: ${members}
division: floor
calls: [${calls.join(", ")}]`;
}
