import fc from "fast-check";
import { expect, test } from "vitest";
import { ConfigError } from "../errors.ts";
import { Ramp } from "./ramp.ts";
import type { RampModeOptions, RampOptions } from "./ramp.ts";

const ALL = { used: 1, unused: 0 };
const NONE = { used: 0, unused: 1 };

/** Enters epochs such as "0 1! 5"; `!` says that the last one entered was used in full. */
function ceilings(options: RampOptions, epochs: string): string {
  const ramp = new Ramp(options, { epoch: 0 });
  const entered = epochs.split(" ").map((call) => {
    const usage = call.endsWith("!") ? ALL : NONE;
    return ramp.enter(Number.parseInt(call, 10), usage).ceiling;
  });
  return entered.join(" ");
}

const TEN_STEPS = { min: 10, max: 110, rampUpMs: 10_000 };
const goBackN = (coolDownMs: number, rampDownPercentage: number): RampModeOptions => ({
  kind: "goBackN",
  thresholdPercentage: 100,
  coolDownMs,
  rampDownPercentage,
});
const onlyIfUsed: RampModeOptions = { kind: "onlyIfUsed", thresholdPercentage: 100 };

test.each([
  // Every epoch counts, from the making of the ramp.
  ["scheduled", TEN_STEPS, { kind: "scheduled" }, "0 1 2 3", "10 20 30 40"],
  ["scheduled, late", TEN_STEPS, { kind: "scheduled" }, "3 4 9 10 11 99", "40 50 100 110 110 110"],
  // Every epoch with a call counts, from the first call.
  ["relaxed", TEN_STEPS, { kind: "relaxed" }, "5 6 7", "10 20 30"],
  ["relaxed with gaps", TEN_STEPS, { kind: "relaxed" }, "0 1 5 6 60", "10 20 30 40 50"],
  // Only use moves it up, and nothing moves it down.
  ["only if used", TEN_STEPS, onlyIfUsed, "0! 1! 2 3 4! 5!", "10 20 20 20 30 40"],
  ["only if used, gaps", TEN_STEPS, onlyIfUsed, "7! 8! 20 30! 31", "10 20 20 30 30"],
  // Use moves it up, the lack of it down.
  ["go back n", TEN_STEPS, goBackN(0, 100), "0 1! 2! 3 4 5! 6", "10 20 30 20 10 20 10"],
  ["go back n, gap", TEN_STEPS, goBackN(0, 100), "0 1! 2! 3! 4! 5! 8!", "10 20 30 40 50 60 50"],
  ["go back n, idle gap", TEN_STEPS, goBackN(0, 100), "0 1! 2! 3! 4! 7 8!", "10 20 30 40 50 20 30"],
  [
    "half of a step for a gap",
    TEN_STEPS,
    goBackN(0, 50),
    "0 1! 2! 3! 4! 5! 8!",
    "10 20 30 40 50 60 60",
  ],
  ["nothing for a gap", TEN_STEPS, goBackN(0, 0), "0 1! 2! 3! 6! 7", "10 20 30 40 50 40"],
  ["gap within cool-down", TEN_STEPS, goBackN(3000, 100), "0 1! 2! 5! 9! 10", "10 20 30 40 20 10"],
  ["cool-down beyond gap", TEN_STEPS, goBackN(60_000, 100), "0 1! 2! 62! 122", "10 20 30 40 30"],
  ["a gap to the bottom", TEN_STEPS, goBackN(0, 100), "0 1! 2! 99 100!", "10 20 30 10 20"],
  // Slopes that are no whole number are not rounded on the way.
  [
    "fractional slope",
    { min: 15, max: 60, rampUpMs: 10_000 },
    { kind: "relaxed" },
    "0 1 2 3 4 5 6 7 8 9 10 11",
    "15 19 24 28 33 37 42 46 51 55 60 60",
  ],
  [
    "less than one a step, up and down",
    { min: 0, max: 3, rampUpMs: 10_000 },
    goBackN(0, 100),
    "0 1! 2! 3! 4! 5 6 7! 8! 9! 10!",
    "0 0 0 0 1 0 0 0 1 1 1",
  ],
  [
    "what is beyond the top is cut off before the way down",
    { min: 0, max: 10, rampUpMs: 6500 },
    goBackN(0, 100),
    "0 1! 2! 3! 4! 5! 6! 7! 8",
    "0 1 3 4 6 7 9 10 8",
  ],
  // Edges.
  ["no ramp-up", { min: 10, max: 50, rampUpMs: 0 }, goBackN(0, 100), "0 1! 2! 3", "10 50 50 10"],
  ["min = max", { min: 7, max: 7, rampUpMs: 1000 }, goBackN(0, 100), "0 1! 2 9 10!", "7 7 7 7 7"],
  ["min = max at once", { min: 7, max: 7, rampUpMs: 0 }, onlyIfUsed, "0 1! 2", "7 7 7"],
  ["min 0", { min: 0, max: 10, rampUpMs: 5000 }, onlyIfUsed, "0! 1! 2!", "0 2 4"],
  ["clock back", TEN_STEPS, { kind: "relaxed" }, "5 6 3 4 6 7", "10 20 20 20 20 30"],
  ["clock back, scheduled", TEN_STEPS, { kind: "scheduled" }, "2 -5 0 2 3", "30 30 30 30 40"],
] satisfies [string, Omit<RampOptions, "mode">, RampModeOptions, string, string][])(
  "the ceilings of a ramp are as in the table: %s",
  (_, bounds, kind, epochs, expected) => {
    expect(ceilings({ ...bounds, mode: kind }, epochs)).toBe(expected);
  },
);

test.each([
  [5, 10],
  [10, 10],
  [42.9, 42],
  [1000, 110],
])("a ramp that resumes from %d goes on from %d", (resumeFrom, ceiling) => {
  for (const mode of [{ kind: "scheduled" }, { kind: "relaxed" }, goBackN(0, 100)] as const) {
    const ramp = new Ramp({ ...TEN_STEPS, mode }, { epoch: 1000, resumeFrom });
    expect(ramp.enter(1000, NONE).ceiling).toBe(ceiling);
    expect(ramp.enter(1001, ALL).ceiling).toBe(Math.min(110, ceiling + 10));
  }
});

test.each<RampModeOptions>([
  { kind: "scheduled" },
  { kind: "relaxed" },
  onlyIfUsed,
  goBackN(0, 100),
])("the first call starts the ramp and those after it in its second hold it: $kind", (kind) => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: kind }, { epoch: 7 });
  const steps = [ramp.peek(7, ALL), ramp.enter(7, ALL), ramp.enter(7, ALL), ramp.enter(7, NONE)];
  expect(steps.map(({ step }) => step)).toEqual(["start", "start", "hold", "hold"]);
});

test.each([
  [0, "up"],
  [50, "up"],
  [51, "hold"],
  [100, "hold"],
])("half used against a threshold of %d %% is a reason to %s", (thresholdPercentage, step) => {
  const mode = { kind: "onlyIfUsed", thresholdPercentage } as const;
  const ramp = new Ramp({ ...TEN_STEPS, mode }, { epoch: 0 });
  ramp.enter(0, NONE);
  expect(ramp.enter(1, { used: 5, unused: 5 }).step).toBe(step);
});

test.each([
  ["almost all is not all", { used: 999_999, unused: 1 }, "hold"],
  ["where nothing could be used, all of it was", { used: 0, unused: 0 }, "up"],
])("%s", (_, usage, step) => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: onlyIfUsed }, { epoch: 0 });
  ramp.enter(0, NONE);
  expect(ramp.enter(1, usage).step).toBe(step);
});

test.each([
  [1, 1_000_000, 604_800],
  [1, 1000, 86_400],
  [0, 1, 10_000],
])("a ramp from %d to %d in %d seconds is there at that step and not before", (min, max, steps) => {
  const options = { min, max, rampUpMs: steps * 1000, mode: { kind: "relaxed" } } as const;
  const ramp = new Ramp(options, { epoch: 0 });
  for (let epoch = 0; epoch < steps; epoch++) ramp.enter(epoch, NONE);
  expect(ramp.enter(steps - 1, NONE).ceiling).toBeLessThan(max);
  expect(ramp.enter(steps, NONE).ceiling).toBe(max);
});

const percentage = fc.nat(100);
const mode: fc.Arbitrary<RampModeOptions> = fc.oneof(
  fc.constant({ kind: "scheduled" as const }),
  fc.constant({ kind: "relaxed" as const }),
  fc.record({ kind: fc.constant("onlyIfUsed" as const), thresholdPercentage: percentage }),
  fc.record({
    kind: fc.constant("goBackN" as const),
    thresholdPercentage: percentage,
    coolDownMs: fc.nat(10_000),
    rampDownPercentage: percentage,
  }),
);
const options: fc.Arbitrary<RampOptions> = fc
  .record({
    min: fc.nat(1000),
    above: fc.nat(1000),
    rampUpMs: fc.oneof(fc.constant(0), fc.nat(100_000)),
    mode,
  })
  .map(({ min, above, ...rest }) => ({ ...rest, min, max: Math.max(1, min + above) }));
const calls = fc.array(
  fc.record({ move: fc.integer({ min: -3, max: 20 }), used: fc.nat(10), unused: fc.nat(10) }),
  { maxLength: 50 },
);

test("the ceiling stays within its bounds, and asking what it would be changes nothing", () => {
  fc.assert(
    fc.property(options, calls, fc.option(fc.nat(3000)), (bounds, history, resumeFrom) => {
      const start = { epoch: 100, ...(resumeFrom === null ? {} : { resumeFrom }) };
      const ramp = new Ramp(bounds, start);
      const unasked = new Ramp(bounds, start);
      let epoch = 100;
      for (const { move, used, unused } of history) {
        epoch += move;
        const foreseen = ramp.peek(epoch, { used, unused });
        ramp.peek(epoch + used, { used: unused, unused: used });
        const entered = ramp.enter(epoch, { used, unused });
        expect(entered).toEqual(foreseen);
        expect(entered).toEqual(unasked.enter(epoch, { used, unused }));
        expect(entered.ceiling).toBeGreaterThanOrEqual(bounds.min);
        expect(entered.ceiling).toBeLessThanOrEqual(bounds.max);
      }
    }),
    { numRuns: 300 },
  );
});

const enters = fc.record({
  do: fc.constant("enter" as const),
  move: fc.integer({ min: -3, max: 20 }),
  usage: fc.record({ used: fc.nat(10), unused: fc.nat(10) }),
});
const changes = fc.oneof(
  { weight: 3, arbitrary: enters },
  fc.record({ do: fc.constant("rebound" as const), options }),
  fc.record({
    do: fc.constant("raise" as const),
    ceiling: fc.oneof(fc.nat(3000), fc.double({ min: 0, max: 1e20, noNaN: true })),
    isDated: fc.boolean(),
  }),
);

test("the ceiling stays within the bounds of the moment, and a raise never lowers it", () => {
  fc.assert(
    fc.property(options, fc.array(changes, { maxLength: 40 }), (first, history) => {
      const ramp = new Ramp(first, { epoch: 100 });
      let bounds = first;
      let epoch = 100;
      for (const change of history) {
        const before = ramp.ceiling;
        if (change.do === "enter") {
          epoch += change.move;
          const foreseen = ramp.peek(epoch, change.usage);
          expect(ramp.enter(epoch, change.usage)).toEqual(foreseen);
          expect(ramp.ceiling).toBe(foreseen.ceiling);
        } else if (change.do === "rebound") {
          bounds = change.options;
          ramp.rebound(bounds, epoch);
        } else {
          ramp.raiseTo(change.ceiling, change.isDated ? epoch : undefined);
          expect(ramp.ceiling).toBeGreaterThanOrEqual(before);
          expect(ramp.ceiling).toBeGreaterThanOrEqual(
            Math.min(bounds.max, Math.trunc(change.ceiling)),
          );
        }
        expect(ramp.ceiling).toBeGreaterThanOrEqual(bounds.min);
        expect(ramp.ceiling).toBeLessThanOrEqual(bounds.max);
      }
    }),
    { numRuns: 1000 },
  );
});

test("a ramp that is given the options it has goes on as one that was left alone", () => {
  const history = fc.array(enters, { maxLength: 40 });
  fc.assert(
    fc.property(options, history, fc.nat(40), (bounds, entries, at) => {
      const [ramp, untouched] = [1, 2].map(() => new Ramp(bounds, { epoch: 100 }));
      let epoch = 100;
      for (const [i, { move, usage }] of entries.entries()) {
        epoch += move;
        if (i >= at) ramp?.rebound({ ...bounds, mode: { ...bounds.mode } }, epoch);
        expect(ramp?.enter(epoch, usage)).toEqual(untouched?.enter(epoch, usage));
      }
    }),
    { numRuns: 300 },
  );
});

const WIDE = { min: 0, max: 1000, rampUpMs: 10_000 };
const relaxed: RampModeOptions = { kind: "relaxed" };
const scheduled: RampModeOptions = { kind: "scheduled" };

test.each<[string, RampModeOptions, RampOptions, number, number, string, string]>([
  // At 40 in second 3, after 10, 20 and 30; then other options; then calls.
  ["wider bounds keep it", relaxed, { ...WIDE, mode: relaxed }, 3, 40, "4 5", "140 240"],
  [
    "a lower top cuts it off",
    relaxed,
    { ...TEN_STEPS, max: 30, mode: relaxed },
    3,
    30,
    "4 5",
    "30 30",
  ],
  [
    "a higher bottom lifts it",
    relaxed,
    { ...TEN_STEPS, min: 60, mode: relaxed },
    3,
    60,
    "4 5",
    "65 70",
  ],
  [
    "use in the last epoch counts on",
    relaxed,
    { ...WIDE, mode: goBackN(0, 100) },
    3,
    40,
    "4! 5",
    "140 40",
  ],
  [
    "a gap before it counts on",
    relaxed,
    { ...TEN_STEPS, mode: goBackN(0, 100) },
    5,
    40,
    "6! 7!",
    "30 40",
  ],
  [
    "a schedule counts from then",
    relaxed,
    { ...WIDE, mode: scheduled },
    6,
    40,
    "6 7 9",
    "40 140 340",
  ],
  [
    "a schedule ran until then, and runs on by the new slope",
    scheduled,
    { ...WIDE, mode: scheduled },
    6,
    70,
    "6 7",
    "70 170",
  ],
  ["a schedule that ends", scheduled, { ...TEN_STEPS, mode: relaxed }, 6, 70, "6 7 9", "70 80 90"],
])("%s", (_, kind, next, at, kept, epochs, expected) => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: kind }, { epoch: 0 });
  for (let epoch = 0; epoch <= 3; epoch++) ramp.enter(epoch, ALL);
  ramp.rebound(next, at);
  expect(ramp.ceiling).toBe(kept);
  const entered = epochs.split(" ").map((call) => {
    const usage = call.endsWith("!") ? ALL : NONE;
    return ramp.enter(Number.parseInt(call, 10), usage).ceiling;
  });
  expect(entered.join(" ")).toBe(expected);
});

test("a slope of other bounds is exact from where they began", () => {
  const ramp = new Ramp({ min: 0, max: 3, rampUpMs: 10_000, mode: relaxed }, { epoch: 0 });
  for (let epoch = 0; epoch <= 5; epoch++) ramp.enter(epoch, NONE);
  ramp.rebound({ min: 1, max: 3, rampUpMs: 7000, mode: relaxed }, 5);
  const later = Array.from({ length: 8 }, (_, i) => ramp.enter(6 + i, NONE).ceiling);
  expect(later).toEqual([1, 1, 1, 2, 2, 2, 3, 3]);
});

test.each([
  ["from its new min if it has not left the old one", undefined, 1, "1 11"],
  ["from the level it resumes", 50, 1, "50 60"],
  ["from its new min if that is higher", undefined, 30, "30 37"],
])(
  "a ramp that gets other bounds before its first call starts %s",
  (_, resumeFrom, min, expected) => {
    const start = { epoch: 0, ...(resumeFrom === undefined ? {} : { resumeFrom }) };
    const ramp = new Ramp({ ...TEN_STEPS, mode: relaxed }, start);
    ramp.rebound({ min, max: 101, rampUpMs: 10_000, mode: relaxed }, 4);
    expect([ramp.enter(9, NONE).ceiling, ramp.enter(10, NONE).ceiling].join(" ")).toBe(expected);
  },
);

test("a ramp that has started stays where it is when its min goes down", () => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: relaxed }, { epoch: 0 });
  ramp.enter(0, NONE);
  ramp.rebound({ ...TEN_STEPS, min: 1, mode: relaxed }, 0);
  expect(ramp.ceiling).toBe(10);
});

test("a schedule that ends before the first call leaves that call the level it has come to", () => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: scheduled }, { epoch: 0 });
  ramp.rebound({ ...TEN_STEPS, mode: relaxed }, 4);
  const entered = [9, 10].map((epoch) => ramp.enter(epoch, NONE));
  expect(entered).toEqual([
    { ceiling: 50, step: "start" },
    { ceiling: 60, step: "up" },
  ]);
});

test("other bounds that are refused change nothing", () => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: relaxed }, { epoch: 0 });
  ramp.enter(0, NONE);
  for (const wrong of [{ min: 2000 }, { max: 0 }, { rampUpMs: -1 }, { mode: goBackN(0, 101) }]) {
    const next = { ...WIDE, mode: scheduled, ...wrong };
    expect(() => ramp.rebound(next, 5)).toThrow(ConfigError);
  }
  expect(ramp.enter(6, NONE).ceiling).toBe(20);
});

test.each<[string, RampModeOptions, number | undefined, number]>([
  ["a raise of which the epoch is not known comes before the step", relaxed, undefined, 60],
  ["a raise into an epoch is the step into it", relaxed, 4, 50],
  ["a raise of an earlier epoch comes before the step", relaxed, 3, 60],
  ["a schedule is where it would be, or where it was raised to", scheduled, 4, 50],
])("%s", (_, kind, epoch, expected) => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: kind }, { epoch: 0 });
  for (let each = 0; each <= 3; each++) ramp.enter(each, ALL);
  ramp.raiseTo(50, epoch);
  expect(ramp.enter(4, ALL).ceiling).toBe(expected);
});

test("a schedule that is further on by itself is not held back by a raise", () => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: scheduled }, { epoch: 0 });
  ramp.enter(3, ALL);
  ramp.raiseTo(50, 6);
  expect(ramp.enter(6, ALL).ceiling).toBe(70);
});

test("a raise to less changes nothing, not even a fraction", () => {
  const ramp = new Ramp({ min: 0, max: 3, rampUpMs: 4000, mode: relaxed }, { epoch: 0 });
  const seen = [0, 1, 2, 3, 4].map((epoch) => {
    ramp.raiseTo(ramp.ceiling);
    return ramp.enter(epoch, NONE).ceiling;
  });
  expect(seen).toEqual([0, 0, 1, 2, 3]);
});

test.each<RampModeOptions>([scheduled, relaxed, onlyIfUsed, goBackN(0, 100)])(
  "a ramp that learns the time of its pool late starts from there: $kind",
  (kind) => {
    const ramp = new Ramp({ ...TEN_STEPS, mode: kind }, { epoch: 3 });
    ramp.countFrom(1_760_000_000);
    const entered = [ramp.enter(1_760_000_000, ALL), ramp.enter(1_760_000_001, ALL)];
    ramp.countFrom(0);
    entered.push(ramp.enter(1_760_000_002, ALL));
    expect(entered.map(({ ceiling }) => ceiling)).toEqual([10, 20, 30]);
  },
);

test.each([-1, Number.NaN])("a raise to %d is a mistake in a program", (ceiling) => {
  const ramp = new Ramp({ ...TEN_STEPS, mode: relaxed }, { epoch: 0 });
  expect(() => ramp.raiseTo(ceiling)).toThrow("ceiling of Ramp.raiseTo is");
});
