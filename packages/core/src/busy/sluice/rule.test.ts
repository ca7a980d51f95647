import { describe, expect, test } from "vitest";
import * as rule from "./rule.ts";
import type { Measured } from "./rule.ts";
import type { CoolDown, Limit, Probing, State } from "./state.ts";

const OPEN: State = { phase: "open", judgedFromMs: -Infinity };

/** A peer that accepts 1000 per second and answers after 50 ms, a minute after the overload began. */
function measured(given: Partial<Measured> = {}): Measured {
  return {
    nowMs: 60_000,
    rttMs: 50,
    sent: 1000,
    sentPeak: 1000,
    accepted: 1000,
    acceptedPeak: 1000,
    busyRatio: 0,
    usualBusyRatio: 0,
    climbCost: 0,
    ...given,
  };
}

/** A limit at the last good rate of 1000 per second. */
function coolDown(given: Partial<Limit> = {}): CoolDown {
  const limit: Limit = {
    rate: 1000,
    goodRate: 1000,
    isProven: true,
    demand: 5000,
    overloadedAtMs: 0,
    climbedFrom: 1000,
    costlyClimbs: 0,
    move: "recover",
    ...given,
  };
  return { phase: "cool-down", limit, judgedFromMs: 0, acceptedAtMs: 0 };
}

describe("a cut", () => {
  test("goes to 98 % of what was accepted", () => {
    expect(rule.cut(OPEN, 1000, 0.8, measured({ accepted: 800 })).limit.rate).toBe(784);
  });

  test("takes half at most, of what was sent or of what was accepted in the last second", () => {
    expect(rule.cut(OPEN, 1000, 0.1, measured({ accepted: 100 })).limit.rate).toBe(500);
    expect(rule.cut(OPEN, 1000, 0.1, measured({ accepted: 1600 })).limit.rate).toBe(800);
  });

  test("never raises the rate, and leaves one request per second", () => {
    expect(rule.cut(OPEN, 1000, 1, measured({ accepted: 3000 })).limit.rate).toBe(1000);
    expect(rule.cut(OPEN, 1.5, 0, measured({ accepted: 0 })).limit.rate).toBe(1);
  });

  test("is from what was sent, but from no more than was allowed", () => {
    expect(rule.sentRate(OPEN, measured({ sentPeak: 5000 }))).toBe(5000);
    expect(rule.sentRate(coolDown(), measured({ sentPeak: 5000 }))).toBe(1000);
    expect(rule.sentRate(coolDown(), measured({ sentPeak: 0 }))).toBe(1);
  });

  test("remembers 98 % of what was accepted until then as the good rate", () => {
    const by = measured({ accepted: 600, acceptedPeak: 900 });
    // Most is still accepted: the last second tells. Else the one before the overload does.
    expect(rule.cut(OPEN, 1000, 0.52, by).limit.goodRate).toBe(0.98 * 600);
    expect(rule.cut(OPEN, 1000, 0.2, by).limit.goodRate).toBe(0.98 * 900);
  });

  test("after a cut, or after a failed probe, changes no good rate: it measured our own limit", () => {
    const unproven = coolDown({ rate: 500, goodRate: 900, isProven: false });
    expect(rule.cut(unproven, 500, 0.5, measured({ accepted: 250 })).limit.goodRate).toBe(900);
  });

  test("begins an overload if nothing was limited, and else belongs to the same one", () => {
    const { limit } = rule.cut(OPEN, 5000, 0.5, measured());
    expect(limit).toMatchObject({ demand: 5000, overloadedAtMs: 60_000, move: "cut" });
    const again = rule.cut(coolDown(), 1000, 0.5, measured()).limit;
    expect(again).toMatchObject({ demand: 5000, overloadedAtMs: 0, move: "cut", isProven: false });
  });
});

test("cuts that changed nothing are undone, without lowering the good rate", () => {
  const cut = coolDown({ rate: 500, goodRate: 800, isProven: false, move: "cut" });
  const undone = { rate: 900, goodRate: 900, isProven: true, move: "recover" };
  expect(rule.undoCuts(cut, 900, 0).limit).toMatchObject(undone);
  expect(rule.undoCuts(cut, 700, 0).limit).toMatchObject({ rate: 700, goodRate: 800 });
});

test("a limit ends when 95 % of the first demand is sent again and some of the rate stays unused", () => {
  expect(rule.isRecovered(coolDown(), measured({ sent: 4750 }), true)).toBe(true);
  expect(rule.isRecovered(coolDown(), measured({ sent: 4750 }), false)).toBe(false);
  expect(rule.isRecovered(coolDown(), measured({ sent: 4749 }), true)).toBe(false);
});

test("more is tried if half of the rate is used", () => {
  expect(rule.isUsed(coolDown(), measured({ sent: 500 }))).toBe(true);
  expect(rule.isUsed(coolDown(), measured({ sent: 499 }))).toBe(false);
});

/** A limit far below the last good rate of 1000. */
function far(rate: number): CoolDown {
  return coolDown({ rate, isProven: false });
}

/** What a failed probe from 200 to 400 per second leaves. */
function failed(by: Partial<Measured>): CoolDown {
  return rule.failProbe(rule.startProbe(far(200), measured()), measured(by));
}

describe("on the way back to the last good rate", () => {
  test.each([
    [200, 400],
    [899, 1000],
  ])("a probe doubles the rate, but not beyond: from %d to %d", (from, to) => {
    expect(rule.startProbe(far(from), measured()).plan).toMatchObject({ from, to });
  });

  test("an accepted probe is followed by the next one, and the last by a cool-down", () => {
    const next = rule.keepProbe(rule.startProbe(far(200), measured()), 400, measured());
    expect(next).toMatchObject({ phase: "probing", plan: { from: 400, to: 800 } });
    const last = rule.keepProbe(rule.startProbe(far(500), measured()), 1000, measured());
    expect(last).toMatchObject({ phase: "cool-down", limit: { rate: 1000, move: "recover" } });
  });

  test("from 90 % of it on, a probe is a climb", () => {
    expect(rule.startProbe(far(899), measured()).plan.climb).toBeUndefined();
    expect(rule.startProbe(far(900), measured()).plan.climb).toBeDefined();
  });

  test("a failed probe keeps the rate, and puts the good rate between the two at most", () => {
    const halfway = failed({ accepted: 200, acceptedPeak: 900 }).limit;
    expect(halfway).toMatchObject({ rate: 200, goodRate: 300, isProven: false });
    expect(failed({ accepted: 200, acceptedPeak: 250 }).limit.goodRate).toBe(250);
    expect(failed({ accepted: 200, acceptedPeak: 100 }).limit.goodRate).toBe(200);
  });

  test("a failed probe says nothing about the good rate if less than half was accepted", () => {
    expect(failed({ accepted: 99, acceptedPeak: 99 }).limit.goodRate).toBe(1000);
  });

  test("a probe has one and a half requests more than the known rate", () => {
    const { from, to, lengthMs } = rule.startProbe(far(1), measured()).plan;
    expect(((to - from) * lengthMs) / 1000).toBe(1.5);
  });
});

/** The first probe of a climb from `rate`. */
function start(rate: number, by: Partial<Measured> = {}): Probing {
  return rule.startProbe(coolDown({ rate, goodRate: rate }), measured(by));
}

function stepOf({ plan: { from, to } }: Probing): number {
  return to / from - 1;
}

/** A climb from 1000 per second that takes a step every 200 ms. */
function climb(steps: number): { last: Probing; taken: number[] } {
  let last = start(1000, { nowMs: 0 });
  const taken = [stepOf(last)];
  for (let i = 1; i < steps; i++) {
    const kept = rule.keepProbe(last, last.plan.to, measured({ nowMs: 200 * i }));
    if (kept.phase !== "probing") break;
    last = kept;
    taken.push(stepOf(last));
  }
  return { last, taken };
}

describe("a climb beyond the last good rate", () => {
  test.each([
    [100_000, 0.02],
    [1000, 0.02],
    [500, 0.04],
    [100, 0.05],
    [25, 0.08],
    [5, 0.2],
    [1, 0.2],
  ])("begins at %d per second with a step of %d", (rate, step) => {
    expect(stepOf(start(rate))).toBeCloseTo(step, 9);
  });

  test("takes equal steps for a second, then doubles them up to 25 %", () => {
    const steps = [0.02, 0.02, 0.02, 0.02, 0.02, 0.04, 0.08, 0.16, 0.25, 0.25];
    for (const [i, step] of climb(10).taken.entries()) expect(step).toBeCloseTo(steps[i] ?? 0, 9);
  });

  test("probes for a round trip of 100 to 500 ms, and for two requests more than known", () => {
    const lengths = [1, 300, 2000].map((rttMs) => start(1000, { rttMs }).plan.lengthMs);
    expect(lengths.map(Math.round)).toEqual([100, 300, 500]);
    const { from, to, lengthMs } = start(5).plan;
    expect(((to - from) * lengthMs) / 1000).toBeCloseTo(2, 9);
  });

  test("goes to the probed rate, but to no more than twice what was really sent", () => {
    const probing = start(1000);
    expect(rule.keepProbe(probing, 1020, measured()).limit.rate).toBe(1020);
    expect(rule.keepProbe(probing, 505, measured()).limit.rate).toBe(1010);
    expect(rule.keepProbe(probing, 1, measured()).limit.rate).toBe(1000);
  });

  test("falls back to before the last accepted step: that rate held for longer than a probe", () => {
    const { last } = climb(3);
    const back = rule.failProbe(last, measured({ accepted: 5000 })).limit;
    expect(back).toMatchObject({ rate: 1020, goodRate: 1020, isProven: false });
  });

  test("falls back to what was accepted if that is less, but not below where it began", () => {
    const { last } = climb(3);
    expect(rule.failProbe(last, measured({ accepted: 1010 })).limit.rate).toBe(1010);
    expect(rule.failProbe(last, measured({ accepted: 500 })).limit.rate).toBe(1000);
  });

  test("after a step of more than 10 % keeps most of the gain as the good rate", () => {
    const { last } = climb(8);
    const { rate, goodRate } = rule.failProbe(last, measured({ accepted: 1000 })).limit;
    expect([rate, goodRate]).toEqual([1000, 0.98 * last.limit.rate]);
    const smaller = climb(7).last;
    expect(rule.failProbe(smaller, measured({ accepted: 1000 })).limit.goodRate).toBe(1000);
  });
});

describe("before a climb", () => {
  test.each([
    [0, undefined],
    [0.01, 960],
    [0.02, 920],
    [0.05, 900],
  ])("a busy ratio of %d at the good rate gives way, to %d at the least", (busyRatio, rate) => {
    expect(rule.giveWay(coolDown(), measured({ busyRatio }))?.limit.rate).toBe(rate);
  });

  test("the good rate gives way as well, and far below it nothing does", () => {
    expect(rule.giveWay(coolDown(), measured({ busyRatio: 0.01 }))?.limit.goodRate).toBe(960);
    expect(rule.giveWay(coolDown({ rate: 500 }), measured({ busyRatio: 0.01 }))).toBeUndefined();
  });
});
