import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StartPace } from "./start-pace.ts";

const RTT_MS = 100;

/** The instants of starts that are wanted at the given instants and wait out each pause. */
function startsOf(pace: StartPace, wantedAtMs: readonly number[]): number[] {
  const starts: number[] = [];
  let nowMs = 0;
  for (const wanted of wantedAtMs) {
    nowMs = Math.max(nowMs, wanted);
    nowMs += pace.pauseMs(nowMs);
    pace.onStart(nowMs);
    starts.push(nowMs);
  }
  return starts;
}

/** Serves an attempt every 10 ms. `isBlocked`: starts are wanted at any time, so the pace blocks some. */
function serve(pace: StartPace, fromMs: number, forMs: number, isBlocked: boolean): void {
  for (let nowMs = fromMs; nowMs < fromMs + forMs; nowMs += 10) {
    if (isBlocked) {
      let most = 1000;
      while (most-- > 0 && pace.pauseMs(nowMs) === 0) pace.onStart(nowMs);
      pace.onBlocked(nowMs);
    }
    pace.onServed(nowMs, RTT_MS);
  }
}

/** When a pace that was cut to 90 first grows. */
function grownAtMs(losses: number): number {
  const pace = new StartPace();
  pace.cut(0, 100, 0);
  for (let lost = 0; lost < losses; lost++) pace.onLoss();
  let nowMs = 0;
  while (rateOf(pace) <= 90 && nowMs < 100_000) {
    nowMs += 10;
    serve(pace, nowMs, 10, true);
  }
  return nowMs;
}

function rateOf(pace: StartPace): number {
  return pace.perSecond ?? 0;
}

test("nothing is paced before the first cut", () => {
  const pace = new StartPace();
  expect(startsOf(pace, Array<number>(1000).fill(5))).toEqual(Array<number>(1000).fill(5));
  serve(pace, 0, 10_000, true);
  expect(pace.perSecond).toBeUndefined();
});

test("starts wanted at once are spaced evenly", () => {
  const pace = new StartPace();
  pace.cut(0, 100, 0);
  const starts = startsOf(pace, Array<number>(50).fill(0)).slice(3);
  const gapsMs = starts.slice(1).map((atMs, index) => atMs - (starts[index] ?? 0));
  for (const gapMs of gapsMs) expect(gapMs).toBeCloseTo(1000 / 90, 6);
});

test("timers that are 15 ms late cost no rate", () => {
  const pace = new StartPace();
  pace.cut(0, 1000, 0);
  let starts = 0;
  for (let nowMs = 0; nowMs < 10_000; nowMs += 15)
    for (; pace.pauseMs(nowMs) === 0; starts++) pace.onStart(nowMs);
  expect(starts).toBeGreaterThan(0.98 * 9000);
});

test("after a quiet time the starts of 20 ms come at once, and no more", () => {
  const pace = new StartPace();
  pace.cut(0, 1000, 0);
  let starts = 0;
  for (; pace.pauseMs(5000) === 0; starts++) pace.onStart(5000);
  expect(starts).toBe(1 + (900 * 20) / 1000);
});

test("starts that nobody asked for add up to a pause of two seconds", () => {
  const pace = new StartPace();
  pace.cut(0, 1, 0);
  for (let start = 0; start < 10; start++) pace.onStart(0);
  expect(pace.pauseMs(0)).toBe(2000);
});

describe("a cut", () => {
  test.each([
    { accepted: 100, perSecond: 90 },
    { accepted: 0, perSecond: 1 },
    { accepted: 0.5, perSecond: 1 },
  ])("goes below the $accepted that were accepted, to $perSecond", ({ accepted, perSecond }) => {
    const pace = new StartPace();
    pace.cut(0, accepted, 0);
    expect(pace.perSecond).toBe(perSecond);
  });

  test("goes below the pace itself if more was accepted", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    pace.cut(1000, 500, 0);
    expect(pace.perSecond).toBe(81);
  });

  test("takes half of the pace at most: a low rate may be a lack of demand", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    pace.cut(1000, 3, 0);
    expect(pace.perSecond).toBe(0.9 * 45);
  });

  test("is followed by a cool-down", () => {
    const pace = new StartPace();
    pace.cut(1000, 100, 150);
    expect([pace.pauseMs(1000), pace.pauseMs(1149), pace.pauseMs(1150)]).toEqual([150, 1, 0]);
  });
});

test("pauses are two seconds at most unless a cool-down is longer, however many start unasked", () => {
  const event = fc.record({
    kind: fc.constantFrom("start", "cut", "cool-down", "served", "loss", "blocked"),
    waitMs: fc.oneof(fc.constant(0), fc.nat(5000)),
    value: fc.oneof(fc.constant(0), fc.nat(100_000)),
    coolDownMs: fc.nat(2000),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 100 }), (events) => {
      const pace = new StartPace();
      let nowMs = 0;
      for (const { kind, waitMs, value, coolDownMs } of events) {
        nowMs += waitMs;
        if (kind === "start") pace.onStart(nowMs);
        else if (kind === "cut") pace.cut(nowMs, value, coolDownMs);
        else if (kind === "cool-down") pace.coolDown(nowMs, coolDownMs);
        else if (kind === "blocked") pace.onBlocked(nowMs);
        else if (kind === "served") pace.onServed(nowMs, value);
        else pace.onLoss();
        expect(pace.pauseMs(nowMs)).toBeGreaterThanOrEqual(0);
        expect(pace.pauseMs(nowMs)).toBeLessThanOrEqual(2000);
        expect(pace.perSecond ?? 1).toBeGreaterThanOrEqual(1);
      }
    }),
  );
});

describe("growth", () => {
  test("takes a small step a second near the last cut, and large ones far from it", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    const steps: { readonly from: number; readonly part: number }[] = [];
    for (let nowMs = 0; nowMs < 20_000; nowMs += 10) {
      const from = rateOf(pace);
      serve(pace, nowMs, 10, true);
      const part = rateOf(pace) / from - 1;
      if (part !== 0) steps.push({ from, part });
    }
    expect(steps.length).toBe(19);
    for (const { from, part } of steps) {
      // One more in flight every twenty round trips of 100 ms: 5 a second more each second.
      if (from > 130) expect(part).toBeCloseTo(0.4, 9);
      else expect(part).toBeCloseTo(5 / from, 9);
    }
    expect(steps.at(-1)?.from).toBeGreaterThan(130);
  });

  test("takes a tenth in a step at most near the last cut, and a hundredth at least", () => {
    for (const [accepted, part] of [
      [10, 0.1],
      [10_000, 0.01],
    ] as const) {
      const pace = new StartPace();
      pace.cut(0, accepted, 0);
      serve(pace, 0, 1010, true);
      expect(rateOf(pace)).toBeCloseTo(0.9 * accepted * (1 + part), 9);
    }
  });

  test("waits until losses are 5 % of the starts since, 30 s at most", () => {
    expect(grownAtMs(0)).toBe(1000);
    // 9 of 180 are 5 in a hundred, and 180 take 2 s.
    expect(grownAtMs(9)).toBe(3000);
    expect(grownAtMs(100_000)).toBe(31_000);
  });

  test("ends with the pace once nothing was blocked for two seconds", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    serve(pace, 0, 1990, false);
    // Asking is not wanting to start.
    for (let nowMs = 0; nowMs < 1990; nowMs++) pace.pauseMs(nowMs);
    expect(pace.perSecond).toBeDefined();
    serve(pace, 2000, 1100, false);
    expect(pace.perSecond).toBeUndefined();
    expect(startsOf(pace, Array<number>(100).fill(5000))).toEqual(Array<number>(100).fill(5000));
  });
});

describe("a pace is back where it was cut", () => {
  test("from 95 % of that on", () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 2000 }), (accepted) => {
        const pace = new StartPace();
        pace.cut(0, accepted, 0);
        expect(pace.isBackAtCut).toBe(false);
        for (let nowMs = 0; nowMs < 20_000; nowMs += 100) {
          serve(pace, nowMs, 100, true);
          expect(pace.isBackAtCut).toBe(rateOf(pace) > 0.95 * accepted);
        }
        expect(pace.isBackAtCut).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test("but not after the next cut", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    serve(pace, 0, 10_000, true);
    expect(pace.isBackAtCut).toBe(true);
    pace.cut(10_000, rateOf(pace), 0);
    expect(pace.isBackAtCut).toBe(false);
  });

  test("never while starts are not paced", () => {
    const pace = new StartPace();
    expect(pace.isBackAtCut).toBe(false);
    pace.cut(0, 100, 0);
    serve(pace, 0, 10_000, true);
    pace.end(10_000);
    expect([pace.isBackAtCut, pace.perSecond]).toEqual([false, undefined]);
  });
});

test("the end of a pace ends its cool-down", () => {
  const pace = new StartPace();
  pace.cut(0, 100, 500);
  pace.end(10_000);
  expect(startsOf(pace, Array<number>(100).fill(5))).toEqual(Array<number>(100).fill(5));
});

test("clients that share a quota and are cut together come to share it evenly", () => {
  const [one, other] = [new StartPace(), new StartPace()];
  one.cut(0, 180, 0);
  other.cut(0, 20, 0);
  for (let second = 1; second <= 300; second++) {
    for (const pace of [one, other]) serve(pace, second * 1000, 1000, true);
    if (rateOf(one) + rateOf(other) <= 200) continue;
    for (const pace of [one, other]) pace.cut(second * 1000 + 990, rateOf(pace), 0);
  }
  expect(rateOf(one) / rateOf(other)).toBeLessThan(1.5);
});

describe("a pace that is lowered for a time", () => {
  test("is what it was once the trial or the outage ends, and does not grow meanwhile", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    pace.halve(1000, 100);
    serve(pace, 1000, 10_000, true);
    expect(rateOf(pace)).toBe(45);
    pace.probe(11_000, 15);
    expect(rateOf(pace)).toBe(15);
    pace.resume(12_000);
    expect(rateOf(pace)).toBe(90);
  });

  test("is none again if starts were not paced", () => {
    const pace = new StartPace();
    pace.halve(0, 100);
    expect(rateOf(pace)).toBe(50);
    pace.resume(1000);
    expect(pace.perSecond).toBeUndefined();
    pace.resume(2000);
    expect(pace.perSecond).toBeUndefined();
  });

  test("is cut from what it was, not from what it was lowered to", () => {
    const pace = new StartPace();
    pace.cut(0, 100, 0);
    pace.halve(1000, 100);
    pace.cut(2000, 100, 0);
    expect(rateOf(pace)).toBeCloseTo(81);
  });

  test("never pauses for more than two seconds", () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.integer({ min: 1, max: 1000 }), (coolDownMs, perSecond) => {
        const pace = new StartPace();
        pace.cut(0, perSecond, coolDownMs);
        pace.probe(1, 1);
        expect(pace.pauseMs(1)).toBeLessThanOrEqual(2000);
      }),
    );
  });
});
