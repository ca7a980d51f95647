import { expect, test } from "vitest";
import { AskedPeaks } from "./asked-peaks.ts";
import { NOTHING_WAITS } from "./waiting.ts";
import type { WaitingSnapshot } from "./waiting.ts";

function asking(asked: number | undefined): WaitingSnapshot {
  const producer = {
    name: "bulk",
    address: "127.0.0.1:1",
    isAware: false,
    heldFrames: 1,
    heldBytes: 1,
  };
  const topic = {
    reason: "topic-rate" as const,
    topic: "persistent://public/default/orders",
    limiter: "topic",
    limit: { messages: 1_000 },
    producers: [{ ...producer, ...(asked !== undefined && { asked }) }],
    others: 0,
    sinceMs: 0,
  };
  return { topics: [topic], connections: [] };
}

function askedAt(peaks: AskedPeaks, asked: number | undefined, nowMs: number): number | undefined {
  return peaks.seen(asking(asked), nowMs).topics[0]?.producers[0]?.asked;
}

test("a producer asks for the most that was measured during its wait, without its first burst", () => {
  const peaks = new AskedPeaks();
  expect(askedAt(peaks, 25_000, 0)).toBe(25_000);
  expect(askedAt(peaks, undefined, 100)).toBeUndefined();
  expect(askedAt(peaks, 2_400, 250)).toBe(2_400);
  expect(askedAt(peaks, 333, 60_000)).toBe(333);
});

test("the peak stays for the whole wait, and is forgotten a second after it", () => {
  const peaks = new AskedPeaks();
  for (let nowMs = 0; nowMs <= 300; nowMs += 100) askedAt(peaks, 2_400, nowMs);
  for (let nowMs = 400; nowMs <= 9_900; nowMs += 500)
    expect(askedAt(peaks, 333, nowMs)).toBe(2_400);
  peaks.seen(NOTHING_WAITS, 11_000);
  expect(askedAt(peaks, 333, 11_100)).toBe(333);
});
