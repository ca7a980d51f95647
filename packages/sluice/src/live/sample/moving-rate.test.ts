import { expect, test } from "vitest";
import { MovingRate } from "./moving-rate.ts";

const SAMPLE_MS = 500;

test("a flow that comes in lumps has a steady rate", () => {
  const rate = new MovingRate(0, 0);
  let count = 0;
  const seen: number[] = [];
  for (let sample = 1; sample <= 40; sample++) {
    // Nothing, then a batch of a whole second.
    if (sample % 2 === 0) count += 300;
    seen.push(rate.next(sample * SAMPLE_MS, count));
  }
  expect(new Set(seen.slice(8))).toEqual(new Set([300]));
});

test("three seconds after a flow has stopped its rate is zero", () => {
  const rate = new MovingRate(0, 0);
  for (let sample = 1; sample <= 10; sample++) rate.next(sample * SAMPLE_MS, sample * 50);
  const after = Array.from({ length: 7 }, (_, index) => rate.next((11 + index) * SAMPLE_MS, 500));
  expect(after[0]).toBeLessThan(100);
  expect(after[4]).toBeGreaterThan(0);
  expect(after[5]).toBe(0);
});

test("the first samples show the rate since the start", () => {
  const rate = new MovingRate(0, 1_000);
  expect(rate.next(500, 1_050)).toBe(100);
  expect(rate.next(1_000, 1_050)).toBe(50);
});

test("after a gap of samples the rate is that of the gap", () => {
  const rate = new MovingRate(0, 0);
  rate.next(500, 500);
  expect(rate.next(60_500, 6_500)).toBe(100);
});

test("a counter that was set back starts anew", () => {
  const rate = new MovingRate(0, 1_000);
  expect(rate.next(500, 10)).toBe(0);
  expect(rate.next(1_000, 60)).toBe(100);
  expect(rate.next(1_000, 60)).toBe(100);
});

test("what was counted before the first sample is no rate", () => {
  const rate = new MovingRate(0, 0);
  expect(rate.next(0, 1_000)).toBe(0);
  expect(rate.next(500, 1_050)).toBe(100);
});

test("however often it is asked, it remembers seven counts", () => {
  const rate = new MovingRate(0, 0);
  for (let ms = 1; ms < 20; ms++) rate.next(ms, 0);
  // The oldest of seven counts is six milliseconds old.
  expect(rate.next(20, 6)).toBe(1_000);
});
