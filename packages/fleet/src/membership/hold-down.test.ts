import fc from "fast-check";
import { expect, test } from "vitest";
import { HoldDown } from "./hold-down.ts";

const TIMING = { syncIntervalMs: 100, leaseMs: 1000, staleMs: 1300, timeoutMs: 50 };
const GAP_MS = TIMING.syncIntervalMs + TIMING.timeoutMs;

/** Tells the same number at every sync, each answered after `delayMs`, until it is held down. */
function heldAtMs(holdDown: HoldDown, fromMs: number, delayMs: number): number {
  for (let atMs = fromMs; atMs < fromMs + 10_000; atMs += TIMING.syncIntervalMs)
    if (holdDown.onReply(3, atMs, atMs + delayMs)) return atMs;
  return Number.NaN;
}

test.each([
  [0, 1000],
  [1, 1100],
  [50, 1100],
])(
  "with replies after %i ms it lasts a lease from the first receipt to a sending, %i ms",
  (delayMs, atMs) => {
    expect(heldAtMs(new HoldDown(TIMING), 0, delayMs)).toBe(atMs);
  },
);

test("a first number of zero is held down no sooner", () => {
  const holdDown = new HoldDown(TIMING);
  expect(holdDown.onReply(0, 5000, 5000)).toBe(false);
});

test("another number, a missed sync or a gap starts it anew; a sync that is a little late does not", () => {
  const interruptions: readonly (readonly [string, number, (holdDown: HoldDown) => void])[] = [
    ["none", 0, () => {}],
    ["number", 1000, (holdDown) => holdDown.onReply(4, 900, 900)],
    ["miss", 1000, (holdDown) => holdDown.restart()],
  ];
  for (const [name, moreMs, interrupt] of interruptions) {
    const holdDown = new HoldDown(TIMING);
    for (let atMs = 0; atMs < 900; atMs += 100) holdDown.onReply(3, atMs, atMs);
    interrupt(holdDown);
    expect([name, heldAtMs(holdDown, 900, 0)]).toEqual([name, moreMs === 0 ? 1000 : 1900]);
  }
  for (const [lateMs, atMs] of [
    [GAP_MS, 1050],
    [GAP_MS + 1, 1951],
  ] as const) {
    const holdDown = new HoldDown(TIMING);
    for (let at = 0; at <= 800; at += 100) holdDown.onReply(3, at, at);
    expect(heldAtMs(holdDown, 800 + lateMs, 0)).toBe(atMs);
  }
});

test("it is held down only if every reply of a whole lease told the same, with none missed between", () => {
  const pauses = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(100, 120) },
    { weight: 1, arbitrary: fc.constantFrom(140, 151, 201, 400) },
  );
  const steps = fc.record({
    told: fc.oneof(
      { weight: 20, arbitrary: fc.constant(2) },
      { weight: 1, arbitrary: fc.constant(3) },
    ),
    pauseMs: pauses,
    delayMs: fc.constantFrom(0, 0, 10, 50),
    isMissed: fc.nat(20).map((n) => n === 20),
  });
  let held = 0;
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 60, size: "max" }), (all) => {
      const holdDown = new HoldDown(TIMING);
      let sentAtMs = 0;
      let log: { told: number; sentAtMs: number; atMs: number }[] = [];
      for (const { told, pauseMs, delayMs, isMissed } of all) {
        sentAtMs += pauseMs;
        if (isMissed) {
          holdDown.restart();
          log = [];
          continue;
        }
        const atMs = sentAtMs + delayMs;
        const isHeld = holdDown.onReply(told, sentAtMs, atMs);
        log.push({ told, sentAtMs, atMs });
        const first = log.findLastIndex(
          (entry, i) => entry.told !== told || entry.sentAtMs - (log[i - 1]?.atMs ?? 0) > GAP_MS,
        );
        const from = log[first]?.told === told ? first : first + 1;
        expect(isHeld).toBe(sentAtMs - (log[from]?.atMs ?? 0) >= TIMING.leaseMs);
        if (isHeld) held++;
      }
    }),
    { numRuns: 300 },
  );
  expect(held).toBeGreaterThan(100);
});
