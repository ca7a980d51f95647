import { expect, test } from "vitest";
import { afterKey, limitScale, partOf, snapTo } from "./limit-scale.ts";

const scale = limitScale([3_251, 1_200]);

test("the scale ends beyond what is asked for, with steps of 50 for a thousand a second", () => {
  expect(scale).toEqual({ least: 50, most: 4_000, step: 50 });
  expect(limitScale([20]).step).toBe(1);
  expect(limitScale([5_000_000])).toEqual({ least: 100_000, most: 6_000_000, step: 100_000 });
});

test("arrows move by a step, PageUp and PageDown by ten, Home and End to the ends, within the scale", () => {
  expect(afterKey(scale, 1_000, "ArrowUp")).toBe(1_050);
  expect(afterKey(scale, 1_000, "ArrowDown")).toBe(950);
  expect(afterKey(scale, 1_000, "PageUp")).toBe(1_500);
  expect(afterKey(scale, 1_000, "PageDown")).toBe(500);
  expect(afterKey(scale, 1_000, "Home")).toBe(50);
  expect(afterKey(scale, 1_000, "End")).toBe(4_000);
  expect(afterKey(scale, 3_990, "PageUp")).toBe(4_000);
  expect(afterKey(scale, 60, "PageDown")).toBe(50);
  expect(afterKey(scale, 1_000, "a")).toBeUndefined();
});

test("what is dragged stops at steps, and its place is a part of the line", () => {
  expect(snapTo(scale, 1_234)).toBe(1_250);
  expect(snapTo(scale, -7)).toBe(50);
  expect(partOf(scale, 50)).toBe(0);
  expect(partOf(scale, 4_000)).toBe(1);
  expect(partOf(scale, 9_000)).toBe(1);
});
