import fc from "fast-check";
import { expect, test } from "vitest";
import { measureCapacity } from "./measured-capacity.ts";

const BUSY = { perSecond: 100, backlog: 10_000, isHeld: false };

test("the rate of a replica that is the bottleneck is its capacity", () => {
  expect(measureCapacity(undefined, BUSY)).toBe(100);
});

test.each([
  ["that a rate limit or a service holds back", { ...BUSY, isHeld: true }],
  ["without a backlog", { ...BUSY, backlog: 0 }],
  ["with what is on its way", { ...BUSY, backlog: 100 }],
  ["whose source does not tell its backlog", { ...BUSY, backlog: undefined }],
  ["that reads nothing", { ...BUSY, perSecond: 0 }],
])("the rate of a replica %s says nothing of its capacity", (_, load) => {
  expect(measureCapacity(undefined, load)).toBeUndefined();
  expect(measureCapacity(500, load)).toBe(500);
});

test("a replica that reads more than was measured can read that much", () => {
  expect(measureCapacity(100, { perSecond: 150, backlog: 0, isHeld: true })).toBe(150);
});

test("when messages become slower, the capacity follows within half a minute", () => {
  let capacity: number | undefined = 1000;
  for (let second = 0; second < 30; second++) capacity = measureCapacity(capacity, BUSY);
  expect(capacity).toBeCloseTo(100, -1);
});

test("the capacity is never below the rate that is read, and never above the highest that was", () => {
  const loads = fc.array(
    fc.record({
      perSecond: fc.integer({ min: 0, max: 1_000 }),
      backlog: fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: undefined }),
      isHeld: fc.boolean(),
    }),
    { maxLength: 50 },
  );
  fc.assert(
    fc.property(loads, (all) => {
      let capacity: number | undefined;
      let highest = 0;
      for (const load of all) {
        capacity = measureCapacity(capacity, load);
        highest = Math.max(highest, load.perSecond);
        if (capacity === undefined) continue;
        expect(capacity).toBeGreaterThanOrEqual(load.perSecond);
        expect(capacity).toBeLessThanOrEqual(highest);
      }
    }),
  );
});
