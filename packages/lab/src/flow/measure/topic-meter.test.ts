import { expect, test } from "vitest";
import { LimitTimeline } from "./limit-timeline.ts";
import { TopicMeter } from "./topic-meter.ts";

test("the limit of a window is its mean by time, and none if there was none in a part of it", () => {
  const limit = new LimitTimeline();
  limit.set(0, 100);
  limit.set(10_000, 200);
  limit.set(20_000, undefined);
  expect(limit.meanOf(2_000, 3_000)).toBe(100);
  expect(limit.meanOf(9_250, 10_250)).toBe(125);
  expect(limit.meanOf(15_000, 16_000)).toBe(200);
  expect(limit.meanOf(19_999, 20_999)).toBeUndefined();
});

test("the fullest sliding second counts, wherever it begins, but not the burst of the first", () => {
  const meter = new TopicMeter(10);
  meter.limit.set(0, 100);
  meter.add(500, 900);
  for (let atMs = 1_000; atMs < 5_000; atMs += 10) meter.add(1, atMs);
  expect(meter.maxSecondRatio).toBeCloseTo(1, 1);
  // Neither half is too much for the second that it stands in.
  meter.add(60, 5_900);
  meter.add(60, 6_100);
  expect(meter.maxSecondRatio).toBe(1.2);
  expect([meter.perSecond[0], meter.perSecond[5], meter.perSecond[6]]).toEqual([500, 60, 60]);
});

test("without a limit there is nothing to compare with", () => {
  const meter = new TopicMeter(10);
  meter.limit.set(0, undefined);
  meter.add(60, 5_900);
  expect([meter.maxSecondRatio, meter.perSecond[5]]).toEqual([undefined, 60]);
});
