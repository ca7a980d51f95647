import { describe, expect, test } from "vitest";
import { RttWindow } from "./rtt-window.ts";

const trip = (rttMs: number, typicalMs = rttMs, weight = 1) => ({ rttMs, typicalMs, weight });

/** A round trip of `rttMs` ends every `everyMs`, from `fromMs` on. */
function fill(window: RttWindow, count: number, fromMs = 0, everyMs = 10, rttMs = 100): number {
  let nowMs = fromMs;
  for (let left = count; left > 0; left--) {
    nowMs += everyMs;
    window.add(trip(rttMs), nowMs, true);
  }
  return nowMs;
}

test("a window gives the count, mean and rate of what ended in it", () => {
  const window = new RttWindow();
  window.restart(1000, false);
  window.add(trip(90), 1010, true);
  window.add(trip(110, 110, 4), 1020, false);
  expect(window.rttsMs).toEqual([90, 110]);
  expect([window.count, window.meanMs, window.rate(1020)]).toEqual([2, 100, 0.1]);
  expect(window.meanWeight).toBe(2.5);
});

test("a window has no rate while no time has passed", () => {
  const window = new RttWindow();
  window.restart(1000, false);
  window.add(trip(0), 1000, true);
  expect(window.rate(1000)).toBe(0);
});

test("a window is empty after a restart, and the limit not reached", () => {
  const window = new RttWindow();
  fill(window, 20);
  window.isReached = true;
  window.restart(500, false);
  expect([window.count, window.rttsMs, window.rate(600)]).toEqual([0, [], 0]);
  expect([window.isReached, window.meanWeight]).toEqual([false, 1]);
  window.add(trip(100), 600, true);
  expect(window.meanMs).toBe(100);
});

describe("while it settles", () => {
  test("ends before the number in flight has followed the limit do not count", () => {
    const window = new RttWindow();
    window.restart(0, true);
    for (let nowMs = 0; nowMs <= 2000; nowMs += 10) window.add(trip(100), nowMs, false);
    expect(window.count).toBe(0);
  });

  test("it does not wait for ever for a caller that keeps more in flight than the limit", () => {
    const window = new RttWindow();
    window.restart(0, true);
    for (let nowMs = 0; nowMs < 5000; nowMs += 10) window.add(trip(100), nowMs, false);
    // Twenty round trips, and one more that does not count.
    expect(window.count).toBe((5000 - 2110) / 10);
  });

  test("ends within a round trip after that do not count", () => {
    const window = new RttWindow();
    window.restart(0, true);
    for (const nowMs of [50, 100, 149]) window.add(trip(100), nowMs, true);
    expect(window.count).toBe(0);
    window.add(trip(100), 150, true);
    window.add(trip(100), 160, false);
    expect(window.count).toBe(2);
    expect(window.rate(170)).toBe(0.1);
  });

  test("a plain restart ends the settling", () => {
    const window = new RttWindow();
    window.restart(0, true);
    window.restart(10, false);
    window.add(trip(100), 20, false);
    expect(window.count).toBe(1);
  });
});

test("a window is judged from its least count on, every eight round trips", () => {
  const window = new RttWindow();
  const readyAt: number[] = [];
  for (let count = 1; count <= 40; count++) {
    fill(window, 1);
    if (window.isReady(20)) readyAt.push(count);
  }
  expect(readyAt).toEqual([24, 32, 40]);
});

test("a large window is judged every eighth of its least count", () => {
  const window = new RttWindow();
  const readyAt: number[] = [];
  for (let count = 1; count <= 480; count++) {
    fill(window, 1);
    if (window.isReady(240)) readyAt.push(count);
  }
  expect(readyAt).toEqual([240, 270, 300, 330, 360, 390, 420, 450, 480]);
});

test("a window is full with the count asked for, or after eight mean round trips", () => {
  const window = new RttWindow();
  const slowMs = fill(window, 10, 0, 80);
  expect([slowMs, window.isFull(slowMs - 1, 128), window.isFull(slowMs, 128)]).toEqual([
    800,
    false,
    true,
  ]);
  window.restart(0, false);
  const fastMs = fill(window, 127, 0, 1);
  expect([window.isFull(fastMs, 127), window.isFull(fastMs, 128)]).toEqual([true, false]);
  fill(window, 1, fastMs, 1);
  expect(window.isFull(fastMs + 1, 128)).toBe(true);
});

test("an empty window is not full", () => {
  const window = new RttWindow();
  window.restart(0, false);
  expect(window.isFull(1_000_000, 128)).toBe(false);
});

test("a straggler that ends the settling does not delay the window by its own round trip", () => {
  const window = new RttWindow();
  window.restart(0, true);
  window.add(trip(5000, 100), 5000, true);
  window.add(trip(100), 5100, true);
  expect(window.count).toBe(1);
});
