import fc from "fast-check";
import { expect, test } from "vitest";
import { Strays } from "./strays.ts";
import type { BusyCause, Sample } from "./strays.ts";

const RTT_MS = 50;

/** Answers after a cut, and what is made of them a second later. */
function after(strays: Strays, { busy, answers }: Sample, nowMs: number): BusyCause {
  for (let i = 0; i < answers; i++) strays.onAnswer(i % Math.ceil(answers / busy) === 0);
  return strays.judge(nowMs, RTT_MS);
}

const TENTH = { busy: 100, answers: 1000 };

/** A tenth is busy, and a tenth of what is left after two cuts. */
function cutTwice(strays: Strays): void {
  expect(strays.judge(0, RTT_MS)).toBe("rate");
  strays.onCut(TENTH, 5000, 0);
  expect(after(strays, TENTH, 1000)).toBe("rate");
  strays.onCut(TENTH, 4400, 1000);
}

test("a share that two cuts in a row leave as it was is put up with for half a minute", () => {
  const strays = new Strays();
  cutTwice(strays);
  expect(strays.share(2000)).toBe(0);
  expect(after(strays, TENTH, 2000)).toBe("stray");
  expect(strays.fromRate).toBe(5000);
  expect(strays.share(2000)).toBeGreaterThan(0.1);
  expect(strays.share(31_999)).toBeLessThan(0.12);
  expect(strays.share(32_000)).toBe(0);
});

test.each<[string, Sample, BusyCause]>([
  ["half of it", { busy: 50, answers: 1000 }, "rate"],
  ["much more", { busy: 250, answers: 1000 }, "rate"],
  ["too few to tell", { busy: 10, answers: 100 }, "unknown"],
])("after two cuts a share is not put up with that is now %s", (_, sample, cause) => {
  const strays = new Strays();
  cutTwice(strays);
  expect(after(strays, sample, 2000)).toBe(cause);
  expect(strays.share(2000)).toBe(0);
});

test("a cut that ended nearly all busy answers has helped, whatever comes after", () => {
  const strays = new Strays();
  cutTwice(strays);
  for (let i = 0; i < 200; i++) strays.onAnswer(false);
  expect(strays.isOnTrial(1500)).toBe(false);
  expect(after(strays, TENTH, 2000)).toBe("rate");
});

test("a cut is on trial for three seconds at most", () => {
  const strays = new Strays();
  cutTwice(strays);
  expect([strays.isOnTrial(4000), strays.isOnTrial(4001)]).toEqual([true, false]);
  expect(after(strays, TENTH, 4001)).toBe("rate");
});

test("more than three in ten are never put up with, however often they come", () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 1000 }), (busy) => {
      const strays = new Strays();
      for (let nowMs = 0; nowMs < 20_000; nowMs += 1000) {
        after(strays, { busy, answers: 1000 }, nowMs);
        strays.onCut({ busy, answers: 1000 }, 5000 - nowMs / 10, nowMs);
        expect(strays.share(nowMs)).toBeLessThanOrEqual(0.3);
        if (busy > 300) expect(strays.share(nowMs)).toBe(0);
      }
    }),
    { numRuns: 50 },
  );
});
