import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatNumber, formatTicks } from "./number-format.ts";
import { spreadRange, ticksOver } from "./scale.ts";

test.each([
  { ticks: [0, 500, 1_000, 1_500], labels: ["0", "500", "1,000", "1,500"] },
  { ticks: [0, 5_000, 10_000], labels: ["0", "5k", "10k"] },
  { ticks: [500_000, 1_000_000, 1_500_000], labels: ["0.5M", "1.0M", "1.5M"] },
  { ticks: [-20, 0, 20], labels: ["−20", "0", "20"] },
  { ticks: [0, 0.1, 0.2, 0.3], labels: ["0", "0.1", "0.2", "0.3"] },
  { ticks: [0.8, 0.9], labels: ["0.8", "0.9"] },
  { ticks: [0, 5e15, 1e16], labels: ["0", "5P", "10P"] },
  { ticks: [0, 5e-10, 1e-9], labels: ["0", "0.5e-9", "1.0e-9"] },
  { ticks: [1.7e9, 1.7e9 + 1], labels: ["1,700,000,000", "1,700,000,001"] },
])("the ticks $ticks are labelled $labels", ({ ticks, labels }) => {
  expect(formatTicks(ticks)).toEqual(labels);
});

test("no two ticks of an axis have the same label", () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(finite, finite, (a, b) => {
      const ticks = ticksOver(spreadRange({ from: Math.min(a, b), to: Math.max(a, b) }), 7);
      expect(new Set(formatTicks(ticks)).size).toBe(ticks.length);
    }),
  );
});

test.each([
  [0, "0"],
  [6_000, "6,000"],
  [9_765, "9,765"],
  [9_999_999, "10M"],
  [1_500_000, "1.5M"],
  [10_000, "10k"],
  [100_000, "100k"],
  [38.44, "38.4"],
  [-0.5, "−0.5"],
  [2e-9, "2e-9"],
  [5e-324, "0"],
  [5e300, "5e300"],
])("%d within a text is %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
