import { expect, test } from "vitest";
import { proseRule } from "./prose-rule.ts";
import { DOCUMENT_LIMIT_MAX } from "./rule.ts";
import type { BusyRule } from "./rule.ts";
import { tableRule } from "./table-rule.ts";

/** The limits after seconds with these numbers of busy answers, from an open state. */
function limits(
  rule: BusyRule,
  busyAnswers: readonly number[],
  sent = 5000,
): (number | undefined)[] {
  let limit: number | undefined;
  return busyAnswers.map((busy) => {
    ({ limit } = rule(limit, { sent, busy }));
    return limit;
  });
}

/** Where a limit settles with the same number of busy answers in every second. */
function settles(rule: BusyRule, busy: number): number | undefined {
  return limits(rule, Array<number>(200).fill(busy)).at(-1);
}

test("by the tables a second of many busy answers costs twenty halvings, and growth comes first", () => {
  expect(limits(tableRule({ factor: 4 }), [3000])[0]).toBeCloseTo(38.14697, 5);
  expect(limits(tableRule({ value: 200 }), [3000])[0]).toBeCloseTo(9.53693, 5);
  expect(limits(tableRule({ factor: 4 }), [20])).toEqual(limits(tableRule({ factor: 4 }), [21]));
});

test("by the tables a limit grows fourfold at factor 4 and by 200 at value 200, until it is open", () => {
  const byFactor = limits(tableRule({ factor: 4 }), [3000, 0, 0, 0, 0]);
  expect(byFactor.map((limit = 0) => Math.trunc(limit))).toEqual([38, 152, 610, 2441, 9765]);
  const byValue = limits(tableRule({ value: 200 }), [3000, 0, 0, 0]);
  expect(byValue.map((limit = 0) => Math.trunc(limit))).toEqual([9, 209, 409, 609]);
  const quiet = Array<number>(10).fill(0);
  expect(limits(tableRule({ factor: 4 }), [20, ...quiet]).at(-1)).toBeUndefined();
});

test("by the tables two busy answers a second cost nothing at factor 4, a third halves the limit", () => {
  expect(limits(tableRule({ factor: 4 }), [2, 2, 2])).toEqual([undefined, undefined, undefined]);
  expect(limits(tableRule({ factor: 4 }), [3, 3])).toEqual([
    DOCUMENT_LIMIT_MAX / 2,
    DOCUMENT_LIMIT_MAX / 4,
  ]);
});

test.each([1, 2, 3, 4, 5])("by the tables value 200 with %d busy a second settles", (busy) => {
  expect(settles(tableRule({ value: 200 }), busy)).toBeCloseTo(200 / (2 ** busy - 1), 9);
});

test("by the prose busy answers set the limit to half of what was sent, however many", () => {
  expect(limits(proseRule({ factor: 3 }), [1, 0, 0, 3000], 5000)).toEqual([
    2500, 7500, 22_500, 2500,
  ]);
  expect(limits(proseRule({ value: 200 }), [1, 0, 0], 5000)).toEqual([2500, 2700, 2900]);
});

test.each([
  ["tables", tableRule({ factor: 4 })],
  ["prose", proseRule({ factor: 3 })],
])(
  "by the %s a limit is cut when it falls, recovers when it grows, and is open in the end",
  (_, rule) => {
    const moves: string[] = [];
    let limit: number | undefined;
    for (const busy of [0, 12, 12, 0, 0, ...Array.from({ length: 20 }, () => 0)]) {
      const next = rule(limit, { sent: Math.min(limit ?? 5000, 5000), busy });
      limit = next.limit;
      moves.push(next.move);
    }
    expect(moves.slice(0, 5)).toEqual(["open", "cut", "cut", "recover", "recover"]);
    expect(moves.at(-1)).toBe("open");
  },
);

test.each([
  ["tables", tableRule({ factor: 4 }), 2],
  ["prose", proseRule({ factor: 3 }), 1],
])("by the %s a limit that busy answers leave where it was is not cut", (_, rule, busy) => {
  expect(rule(2500, { sent: 5000, busy })).toEqual({ limit: 2500, move: "recover" });
});

test("a factor means the same under both rules", () => {
  for (const rule of [tableRule({ factor: 3 }), proseRule({ factor: 3 })])
    expect(rule(100, { sent: 100, busy: 0 }).limit).toBe(300);
});
