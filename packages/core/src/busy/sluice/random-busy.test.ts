import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnswerCount } from "./answer-count.ts";
import { RandomBusy } from "./random-busy.ts";
import type { BusyCause } from "./random-busy.ts";

const RTT_MS = 50;

/** Counts answers after a cut, and judges them. */
function after(random: RandomBusy, { busy, answers }: AnswerCount, nowMs: number): BusyCause {
  for (let i = 0; i < answers; i++) random.onAnswer(i % Math.ceil(answers / busy) === 0);
  return random.judge(nowMs, RTT_MS);
}

const TENTH = { busy: 100, answers: 1000 };

/** A tenth is busy before two cuts, and still after the first. */
function cutTwice(random: RandomBusy): void {
  expect(random.judge(0, RTT_MS)).toBe("rate");
  random.onCut(TENTH, 5000, 0);
  expect(after(random, TENTH, 1000)).toBe("rate");
  random.onCut(TENTH, 4400, 1000);
}

test("a busy ratio that two cuts in a row do not change is tolerated for half a minute", () => {
  const random = new RandomBusy();
  cutTwice(random);
  expect(random.ratio(2000)).toBe(0);
  expect(after(random, TENTH, 2000)).toBe("random");
  expect(random.rateBefore).toBe(5000);
  expect(random.ratio(2000)).toBeGreaterThan(0.1);
  expect(random.ratio(31_999)).toBeLessThan(0.12);
  expect(random.ratio(32_000)).toBe(0);
});

test.each<[string, AnswerCount, BusyCause]>([
  ["half of it", { busy: 50, answers: 1000 }, "rate"],
  ["much more", { busy: 250, answers: 1000 }, "rate"],
  ["too few to tell", { busy: 10, answers: 100 }, "unknown"],
])("after two cuts a busy ratio is not tolerated if it is now %s", (_, sample, cause) => {
  const random = new RandomBusy();
  cutTwice(random);
  expect(after(random, sample, 2000)).toBe(cause);
  expect(random.ratio(2000)).toBe(0);
});

test("a cut that ended nearly all busy answers has helped, whatever comes after", () => {
  const random = new RandomBusy();
  cutTwice(random);
  for (let i = 0; i < 200; i++) random.onAnswer(false);
  expect(random.isOnTrial(1500)).toBe(false);
  expect(after(random, TENTH, 2000)).toBe("rate");
});

test("a cut is on trial for three seconds at most", () => {
  const random = new RandomBusy();
  cutTwice(random);
  expect([random.isOnTrial(4000), random.isOnTrial(4001)]).toEqual([true, false]);
  expect(after(random, TENTH, 4001)).toBe("rate");
});

test("a busy ratio of more than 30 % is never tolerated, however often it is seen", () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 1000 }), (busy) => {
      const random = new RandomBusy();
      for (let nowMs = 0; nowMs < 20_000; nowMs += 1000) {
        after(random, { busy, answers: 1000 }, nowMs);
        random.onCut({ busy, answers: 1000 }, 5000 - nowMs / 10, nowMs);
        expect(random.ratio(nowMs)).toBeLessThanOrEqual(0.3);
        if (busy > 300) expect(random.ratio(nowMs)).toBe(0);
      }
    }),
    { numRuns: 50 },
  );
});

test("whether a cut helped is judged a quarter of a second and four round trips later, not before", () => {
  const random = new RandomBusy();
  cutTwice(random);
  expect(after(random, TENTH, 1449)).toBe("unknown");
  expect(random.judge(1450, RTT_MS)).toBe("random");
});

test("16 busy answers after a cut are enough to judge it, and 15 are not", () => {
  for (const [busy, cause] of [
    [15, "unknown"],
    [16, "random"],
  ] as const) {
    const random = new RandomBusy();
    cutTwice(random);
    expect(after(random, { busy, answers: 10 * busy }, 2000)).toBe(cause);
  }
});

test("15 busy answers before a cut are too few to say that it changed nothing", () => {
  const random = new RandomBusy();
  random.onCut({ busy: 15, answers: 150 }, 5000, 0);
  expect(after(random, TENTH, 1000)).toBe("rate");
  random.onCut({ busy: 15, answers: 150 }, 5000, 1000);
  expect(after(random, TENTH, 2000)).toBe("rate");
});

test("a cut has helped if less than a quarter of eight expected busy answers came", () => {
  const random = new RandomBusy();
  cutTwice(random);
  for (let i = 0; i < 79; i++) random.onAnswer(i === 0);
  expect(random.isOnTrial(1500)).toBe(true);
  random.onAnswer(false);
  expect(random.isOnTrial(1500)).toBe(false);
});

test.each([
  // From 100 of 1000: one standard deviation is 1.3 %.
  ["a little less", { busy: 91, answers: 1000 }, "random"],
  ["clearly less", { busy: 83, answers: 1000 }, "rate"],
  ["a little more", { busy: 125, answers: 1000 }, "random"],
  ["clearly more", { busy: 166, answers: 1000 }, "rate"],
] as const)("a busy ratio that is %s after two cuts comes from: %o %s", (_, sample, cause) => {
  const random = new RandomBusy();
  cutTwice(random);
  for (let i = 0; i < sample.answers; i++) random.onAnswer(i < sample.busy);
  expect(random.judge(2000, RTT_MS)).toBe(cause);
});
