import { expect, test } from "vitest";
import { along, stack, WIDTH_MAX, widthScale } from "./geometry.ts";

test("ribbons stand beside each other around the center, without overlap", () => {
  const { centers, height } = stack([10, 4, 6], 100);
  expect(height).toBe(23);
  expect(centers).toEqual([93.5, 102, 108.5]);
});

test("what does not flow takes no room", () => {
  expect(stack([10, 0, 6], 100).height).toBe(17.5);
  expect(stack([], 100)).toEqual({ centers: [], height: 0 });
});

test("width grows with the rate, and the largest fits however large it is", () => {
  for (const max of [10, 3_000, 5e6]) {
    const widthOf = widthScale(max);
    expect(widthOf(max)).toBeLessThanOrEqual(WIDTH_MAX);
    expect(widthOf(max / 4)).toBeLessThanOrEqual(widthOf(max));
    expect(widthOf(0)).toBe(0);
    expect(widthOf(0.01)).toBeGreaterThan(0);
  }
});

test("a ribbon runs from one end to the other", () => {
  const [from, to] = [
    { x: 0, y: 10 },
    { x: 100, y: 50 },
  ];
  expect([along(from, to, 0), along(from, to, 0.5), along(from, to, 1)]).toEqual([
    from,
    { x: 50, y: 30 },
    to,
  ]);
});
