import { describe, expect, test } from "vitest";
import { RttWindow } from "./rtt-window.ts";

const trip = (rttMs: number, typicalMs = rttMs) => ({ rttMs, typicalMs });

/** One of `rttMs` ends each `everyMs`, from `fromMs` on. */
function fill(window: RttWindow, count: number, fromMs = 0, everyMs = 10, rttMs = 100): number {
  let nowMs = fromMs;
  for (let left = count; left > 0; left--) {
    nowMs += everyMs;
    window.add(trip(rttMs), nowMs, true);
  }
  return nowMs;
}

test("knows what ended in it: how many, how long, how often", () => {
  const window = new RttWindow();
  window.restart(1000);
  window.add(trip(90), 1010, true);
  window.add(trip(110), 1020, false);
  expect(window.rttsMs).toEqual([90, 110]);
  expect([window.count, window.meanMs, window.rate(1020)]).toEqual([2, 100, 0.1]);
});

test("has no rate while no time has passed", () => {
  const window = new RttWindow();
  window.restart(1000);
  window.add(trip(0), 1000, true);
  expect(window.rate(1000)).toBe(0);
});

test("is empty after a restart", () => {
  const window = new RttWindow();
  fill(window, 20);
  window.restart(500);
  expect([window.count, window.rttsMs, window.rate(600)]).toEqual([0, [], 0]);
  window.add(trip(100), 600, true);
  expect(window.meanMs).toBe(100);
});

describe("while it settles", () => {
  test("what ends before the number in flight has followed does not count", () => {
    const window = new RttWindow();
    window.restartSettling(0);
    for (let nowMs = 0; nowMs <= 2000; nowMs += 10) window.add(trip(100), nowMs, false);
    expect(window.count).toBe(0);
  });

  test("but it does not wait for ever: some keep more in flight than the limit", () => {
    const window = new RttWindow();
    window.restartSettling(0);
    for (let nowMs = 0; nowMs < 5000; nowMs += 10) window.add(trip(100), nowMs, false);
    expect(window.count).toBeGreaterThan(100);
  });

  test("nor what ends within a round trip after that", () => {
    const window = new RttWindow();
    window.restartSettling(0);
    for (const nowMs of [50, 100, 149]) window.add(trip(100), nowMs, true);
    expect(window.count).toBe(0);
    window.add(trip(100), 150, true);
    window.add(trip(100), 160, false);
    expect(window.count).toBe(2);
    expect(window.rate(170)).toBe(0.1);
  });

  test("a plain restart ends that", () => {
    const window = new RttWindow();
    window.restartSettling(0);
    window.restart(10);
    window.add(trip(100), 20, false);
    expect(window.count).toBe(1);
  });
});

test("is looked at from so many on, in portions of eight", () => {
  const window = new RttWindow();
  const readyAt: number[] = [];
  for (let count = 1; count <= 40; count++) {
    fill(window, 1);
    if (window.isReady(20)) readyAt.push(count);
  }
  expect(readyAt).toEqual([24, 32, 40]);
});

test("is looked at in eight portions for each time as many, if these are larger", () => {
  const window = new RttWindow();
  const readyAt: number[] = [];
  for (let count = 1; count <= 480; count++) {
    fill(window, 1);
    if (window.isReady(240)) readyAt.push(count);
  }
  expect(readyAt).toEqual([240, 270, 300, 330, 360, 390, 420, 450, 480]);
});

test("is full with as many as asked for, or when it has lasted for eight round trips", () => {
  const window = new RttWindow();
  const slowMs = fill(window, 10, 0, 80);
  expect([slowMs, window.isFull(slowMs - 1, 128), window.isFull(slowMs, 128)]).toEqual([
    800,
    false,
    true,
  ]);
  window.restart(0);
  const fastMs = fill(window, 127, 0, 1);
  expect([window.isFull(fastMs, 127), window.isFull(fastMs, 128)]).toEqual([true, false]);
  fill(window, 1, fastMs, 1);
  expect(window.isFull(fastMs + 1, 128)).toBe(true);
});

test("is not full while there is nothing in it", () => {
  const window = new RttWindow();
  window.restart(0);
  expect(window.isFull(1_000_000, 128)).toBe(false);
});

test("a straggler that ends the settling does not make the window deaf for its own time", () => {
  const window = new RttWindow();
  window.restartSettling(0);
  window.add(trip(5000, 100), 5000, true);
  window.add(trip(100), 5100, true);
  expect(window.count).toBe(1);
});
