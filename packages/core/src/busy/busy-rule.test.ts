import { expect, test } from "vitest";
import { LIMIT_MAX } from "./busy-rule.ts";
import type { BusyRule } from "./busy-rule.ts";
import { proseRule } from "./prose-rule.ts";
import { tableRule } from "./table-rule.ts";

/** The limit after each second with so many busy answers, from the highest limit. */
function limits(rule: BusyRule, busyAnswers: readonly number[], sent = 5000): number[] {
  let limit = LIMIT_MAX;
  return busyAnswers.map((busy) => {
    limit = rule(limit, { sent, busy }).limit;
    return limit;
  });
}

/** Where a limit settles with the same number of busy answers in every second. */
function settles(rule: BusyRule, busy: number): number {
  return (
    limits(
      rule,
      Array.from({ length: 200 }, () => busy),
    ).at(-1) ?? Number.NaN
  );
}

test("by the tables a second of many busy answers costs twenty halvings, and growth comes first", () => {
  expect(limits(tableRule({ rate: 3 }), [3000])[0]).toBeCloseTo(38.14697, 5);
  expect(limits(tableRule({ value: 200 }), [3000])[0]).toBeCloseTo(9.53693, 5);
  expect(limits(tableRule({ rate: 3 }), [20])).toEqual(limits(tableRule({ rate: 3 }), [21]));
});

test("by the tables a limit grows fourfold at rate 3, and by 200 at value 200, up to the highest", () => {
  const byRate = limits(tableRule({ rate: 3 }), [3000, 0, 0, 0, 0]);
  expect(byRate.map(Math.trunc)).toEqual([38, 152, 610, 2441, 9765]);
  const byValue = limits(tableRule({ value: 200 }), [3000, 0, 0, 0]);
  expect(byValue.map(Math.trunc)).toEqual([9, 209, 409, 609]);
  expect(limits(tableRule({ rate: 3 }), [20, ...Array.from({ length: 10 }, () => 0)]).at(-1)).toBe(
    LIMIT_MAX,
  );
});

test("by the tables two busy answers a second cost nothing at rate 3, a third halves the limit", () => {
  expect(limits(tableRule({ rate: 3 }), [2, 2, 2])).toEqual([LIMIT_MAX, LIMIT_MAX, LIMIT_MAX]);
  expect(limits(tableRule({ rate: 3 }), [3, 3])).toEqual([LIMIT_MAX / 2, LIMIT_MAX / 4]);
});

test.each([1, 2, 3, 4, 5])("by the tables value 200 with %d busy a second settles", (busy) => {
  expect(settles(tableRule({ value: 200 }), busy)).toBeCloseTo(200 / (2 ** busy - 1), 9);
});

test("by the prose busy answers set the limit to half of what was sent, however many", () => {
  expect(limits(proseRule({ rate: 3 }), [1, 0, 0, 3000], 5000)).toEqual([2500, 7500, 22_500, 2500]);
  expect(limits(proseRule({ value: 200 }), [1, 0, 0], 5000)).toEqual([2500, 2700, 2900]);
});

test.each([
  ["tables", tableRule({ rate: 3 })],
  ["prose", proseRule({ rate: 3 })],
])("by the %s a limit is open at its highest, cut when it falls and recovers else", (_, rule) => {
  const moves: string[] = [];
  let limit = LIMIT_MAX;
  for (const busy of [0, 12, 12, 0, 0, ...Array.from({ length: 20 }, () => 0)]) {
    const next = rule(limit, { sent: Math.min(limit, 5000), busy });
    limit = next.limit;
    moves.push(next.move);
  }
  expect(moves.slice(0, 5)).toEqual(["open", "cut", "cut", "recover", "recover"]);
  expect(moves.at(-1)).toBe("open");
});

test.each([
  ["tables", tableRule({ rate: 3 }), 2],
  ["prose", proseRule({ rate: 3 }), 1],
])("by the %s a limit that busy answers leave where it was is not cut", (_, rule, busy) => {
  expect(rule(2500, { sent: 5000, busy })).toEqual({ limit: 2500, move: "recover" });
});
