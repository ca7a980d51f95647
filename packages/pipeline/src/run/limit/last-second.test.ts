import { expect, test } from "vitest";
import { LastSecond } from "./last-second.ts";

test("uses that nobody sums for an hour keep no more than those of a second", () => {
  const used = new LastSecond();
  let most = 0;
  for (let atMs = 0; atMs < 3_600_000; atMs += 50) {
    used.add(1, atMs);
    most = Math.max(most, used.size);
  }
  expect(most).toBe(20);
  expect(used.sum(3_599_950)).toBe(20);
  for (let atMs = 3_600_000; atMs < 3_605_000; atMs += 0.3) used.add(1, atMs);
  expect(used.size).toBeLessThanOrEqual(1000);
});

test("what is taken back after its second changes no sum", () => {
  const used = new LastSecond();
  const takeBack = used.add(5, 0);
  used.add(2, 1000);
  takeBack(5);
  expect(used.sum(1000)).toBe(2);
});

test("the time until enough uses are a second old is told", () => {
  const used = new LastSecond();
  used.add(5, 0);
  used.add(2, 300);
  used.add(4, 700);
  expect([11, 10, 6, 5, 4, 0].map((count) => used.untilMs(count, 800))).toEqual([
    0, 200, 200, 500, 500, 900,
  ]);
});
