import { describe, expect, test } from "vitest";
import { CutTrial } from "./cut-trial.ts";

const SERVED_MS = 100;
const LOST_MS = 1000;

/** A start a millisecond; one of `every` is lost and ends a timeout later. */
function run(trial: CutTrial, every: number, untilMs: number): void {
  const ends: {
    readonly atMs: number;
    readonly startedAtMs: number;
    readonly isServed: boolean;
  }[] = [];
  for (let startedAtMs = 0; startedAtMs < untilMs; startedAtMs++) {
    const isServed = startedAtMs % every !== 0;
    ends.push({ atMs: startedAtMs + (isServed ? SERVED_MS : LOST_MS), startedAtMs, isServed });
  }
  for (const end of ends.toSorted((a, b) => a.atMs - b.atMs)) {
    if (end.atMs > untilMs) return;
    trial.add(end.isServed, end.startedAtMs, end.atMs, LOST_MS);
  }
}

describe("a cut on trial", () => {
  test("is not taken for of use because losses end later than what is served", () => {
    const trial = new CutTrial({ ratio: 0.05, isHalved: false }, 0);
    run(trial, 20, 900);
    expect([trial.isInVain, trial.isOfUse]).toEqual([false, false]);
  });

  test("was in vain if as many are lost as before", () => {
    const trial = new CutTrial({ ratio: 0.05, isHalved: false }, 0);
    run(trial, 20, 4000);
    expect([trial.isInVain, trial.isOfUse]).toEqual([true, false]);
    expect(trial.lostRatio).toBeCloseTo(0.05, 2);
  });

  test("was of use if next to none are lost", () => {
    const trial = new CutTrial({ ratio: 0.05, isHalved: false }, 0);
    run(trial, 1000, 4000);
    expect([trial.isInVain, trial.isOfUse]).toEqual([false, true]);
  });
});
