import { expect, test } from "vitest";
import { PARTS } from "../store/pool-store.ts";
import { DemandMeter } from "./demand-meter.ts";

test.each([
  ["a quarter more than was asked for", { granted: 100, asked: 100, ceiling: 1000 }, PARTS / 4],
  [
    "four times that, if it did not get all",
    { granted: 9, asked: 10, ceiling: 1000 },
    PARTS * 0.08,
  ],
  ["never more than all there is", { granted: 900, asked: 900, ceiling: 1000 }, PARTS],
  ["a thousandth, if it asks for nothing", { granted: 0, asked: 0, ceiling: 1000 }, PARTS / 1000],
  ["the same before its first call", { granted: 0, asked: 0, ceiling: 0 }, PARTS / 1000],
  ["all there is, if there is nothing", { granted: 0, asked: 1, ceiling: 0 }, PARTS],
])("a member wants %s", (_, { granted, asked, ceiling }, wanted) => {
  const meter = new DemandMeter(1000);
  meter.onAsk(asked, granted);
  expect(meter.read(1500, ceiling, false)).toBe(wanted);
  expect(meter.read(2000, ceiling, false)).toBe(PARTS / 1000);
  expect(meter.read(2500, ceiling, true)).toBe(PARTS);
});

test("who did not get all twice in a row wants all there is, and after that what it asks for", () => {
  const meter = new DemandMeter(0);
  const wanted = [1, 1, 0].map((missing, i) => {
    meter.onAsk(10, 10 - missing);
    return meter.read(1000 * (i + 1), 1000, false);
  });
  expect(wanted).toEqual([0.04 * PARTS, PARTS, 0.0125 * PARTS]);
});
