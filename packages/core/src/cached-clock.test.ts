import fc from "fast-check";
import { expect, test } from "vitest";
import { CachedClock } from "./cached-clock.ts";
import { TokenBucket } from "./rate/token-bucket.ts";

/** A cached clock on a source that tells what it is told, with turns that end when told. */
function setUp(startMs = 1000) {
  const source = { readings: 0, nowMs: startMs };
  const endings: (() => void)[] = [];
  const clock = new CachedClock(
    {
      now: () => {
        source.readings++;
        return source.nowMs;
      },
    },
    (run) => endings.push(run),
  );
  /** What the clock reads in a new turn in which its source reads `sourceMs`. */
  const inNextTurn = (sourceMs: number): number => {
    for (const end of endings.splice(0)) end();
    source.nowMs = sourceMs;
    return clock.now();
  };
  return { clock, source, inNextTurn };
}

test("within one turn time stands still and the source is read once", () => {
  const { clock, source, inNextTurn } = setUp();
  inNextTurn(1000);
  const readingsBefore = source.readings;
  expect(inNextTurn(1001)).toBe(1001);
  source.nowMs = 1005;
  expect([clock.now(), clock.now()]).toEqual([1001, 1001]);
  expect(source.readings - readingsBefore).toBe(1);
});

test.each([
  ["a small step back is waited out", [1010, 1000, 1009, 1011], [1010, 1010, 1010, 1011]],
  ["sixteen milliseconds are still a small step", [1016, 1000, 1017], [1016, 1016, 1017]],
  ["a leap back goes on from where time was", [5000, 0, 1, 30], [5000, 5000, 5001, 5030]],
  ["a second leap back does so again", [5000, 0, 100, 0, 7], [5000, 5000, 5100, 5100, 5107]],
  ["a leap forward passes", [1001, 9_000_000, 9_000_001], [1001, 9_000_000, 9_000_001]],
])("%s", (_, sourceMs, expected) => {
  const { inNextTurn } = setUp();
  expect(sourceMs.map(inNextTurn)).toEqual(expected);
});

test("time never goes back, and passes as in the source while that goes forward", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 1 }), (steps) => {
      const { inNextTurn } = setUp();
      let sourceMs = 1000;
      let beforeMs = inNextTurn(sourceMs);
      for (const stepMs of steps) {
        sourceMs += stepMs;
        const nowMs = inNextTurn(sourceMs);
        const passedMs = nowMs - beforeMs;
        expect(passedMs).toBeGreaterThanOrEqual(0);
        // A step back that was waited out has yet to be caught up, and is at most a leap.
        if (stepMs > 0) expect(stepMs - passedMs).toBeLessThanOrEqual(16);
        expect(passedMs).toBeLessThanOrEqual(Math.max(0, stepMs));
        beforeMs = nowMs;
      }
    }),
  );
});

test("a limit on it keeps its bound, with the longest turn added to every stretch", () => {
  const rate = 100;
  const turn = fc.record({ blockedMs: fc.nat(3000), asks: fc.nat(40), restMs: fc.nat(200) });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 20 }), (turns) => {
      const { clock, source, inNextTurn } = setUp();
      const options = { rate, capacity: 20, initialTokens: 20, resolutionMs: 0 };
      const bucket = new TokenBucket({ ...options, clock });
      const admittedAtMs: number[] = [];
      for (const { blockedMs, asks, restMs } of turns) {
        // The clock is read before the loop is blocked, which is the worst that can happen to it.
        inNextTurn(source.nowMs + restMs);
        source.nowMs += blockedMs;
        for (let i = 0; i < asks; i++) if (bucket.tryAcquire(1)) admittedAtMs.push(source.nowMs);
      }
      const longestMs = Math.max(...turns.map(({ blockedMs }) => blockedMs));
      let excess = 0;
      for (const [first, fromMs] of admittedAtMs.entries()) {
        for (let last = first; last < admittedAtMs.length; last++) {
          const broughtMs = (admittedAtMs[last] ?? 0) - fromMs + longestMs;
          const most = 20 + Math.ceil((rate * broughtMs) / 1000);
          excess = Math.max(excess, last - first + 1 - most);
        }
      }
      expect(excess).toBe(0);
    }),
  );
});
