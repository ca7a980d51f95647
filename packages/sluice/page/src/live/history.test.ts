import { expect, test } from "vitest";
import type { LiveSample } from "../../../src/live/live-message.ts";
import { History, HISTORY_MAX } from "./history.ts";

const sample = (atMs: number): LiveSample => ({ atMs, pipelines: [], waits: [], waitsLeftOut: 0 });
const times = (history: History): readonly number[] => history.samples.map(({ atMs }) => atMs);

test("the oldest samples go when there are more than five minutes of them", () => {
  const history = new History();
  for (let at = 1; at <= HISTORY_MAX + 50; at++) history.add(sample(at * 500));
  expect(history.samples).toHaveLength(HISTORY_MAX);
  expect(history.samples[0]?.atMs).toBe(51 * 500);
});

test("the past is put before what has come already, each instant once and bounded", () => {
  const history = new History();
  history.add(sample(2_000));
  history.addPast([sample(1_000), sample(1_500), sample(2_000)]);
  expect(times(history)).toEqual([1_000, 1_500, 2_000]);
  history.addPast(Array.from({ length: 2 * HISTORY_MAX }, (_, index) => sample(index)));
  expect(history.samples).toHaveLength(HISTORY_MAX);
});

test("a clock that was set back leaves no samples of the future", () => {
  const history = new History();
  for (const at of [1_000, 1_500, 2_000]) history.add(sample(at));
  history.add(sample(1_200));
  expect(times(history)).toEqual([1_000, 1_200]);
});

test("an instant shows the newest sample that is not newer", () => {
  const history = new History();
  expect(history.at(5)).toBeUndefined();
  for (const at of [1_000, 1_500, 2_000]) history.add(sample(at));
  expect([0, 1_000, 1_499, 1_500, 9_000].map((at) => history.at(at)?.atMs)).toEqual([
    1_000, 1_000, 1_000, 1_500, 2_000,
  ]);
});
