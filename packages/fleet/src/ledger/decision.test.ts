import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "./decision.ts";
import type { Decision, Situation } from "./decision.ts";
import { PARTS } from "./parts.ts";

const CALM: Situation = {
  held: 0,
  fair: PARTS / 2,
  wanted: PARTS,
  free: 0,
  returning: 0,
  reserved: 0,
  isOverdue: false,
  isNew: false,
  learning: "no",
};
const PERCENT = PARTS / 100;

/** Amounts in percent of the ceiling. */
const table: readonly (readonly [
  string,
  Partial<Situation>,
  Decision["reason"],
  number,
  boolean,
])[] = [
  ["a member at its fair share keeps it", { held: 50 }, "kept", 50, true],
  ["a joiner takes what is free", { free: 20 }, "grown", 20, true],
  ["a joiner takes no more than its fair share", { free: 90 }, "grown", 50, true],
  ["a joiner waits while nothing is free", {}, "no-room", 0, true],
  ["an over-committed pool gives nothing", { free: -5 }, "no-room", 0, true],
  ["a first sync is told nothing", { free: 90, isNew: true }, "no-room", 0, true],
  ["what is reserved goes to another", { free: 20, reserved: 15 }, "grown", 5, true],
  ["nothing grows while the store learns", { free: 90, learning: "all" }, "learning", 0, true],
  ["nor in the last syncs of learning", { free: 90, learning: "growth" }, "learning", 0, true],
  ["too large a share shrinks by a step", { held: 100 }, "asked-back", 70, false],
  ["and no further than the fair share", { held: 60 }, "asked-back", 50, true],
  ["by less while parts lie idle", { held: 100, free: 10, returning: 5 }, "asked-back", 85, false],
  ["by nothing while 30 % lie idle", { held: 100, returning: 30 }, "asked-back", 100, false],
  [
    "whole if it was asked for too long",
    { held: 100, returning: 30, isOverdue: true },
    "asked-back",
    50,
    true,
  ],
  [
    "whole if the member does not want it",
    { held: 100, wanted: 20, fair: 20, returning: 30 },
    "asked-back",
    20,
    true,
  ],
  [
    "by what is over-committed as well",
    { held: 100, returning: 30, free: -10 },
    "asked-back",
    90,
    false,
  ],
  ["not while the store learns", { held: 100, learning: "all" }, "learning", 100, true],
  ["but in the last syncs of learning", { held: 100, learning: "growth" }, "asked-back", 70, false],
  [
    "and by what is over-committed",
    { held: 100, learning: "all", free: -7 },
    "asked-back",
    93,
    false,
  ],
];

test.each(table)("%s", (_name, part, reason, told, isRenewed) => {
  const percents = ["held", "fair", "wanted", "free", "returning", "reserved"] as const;
  const scaled: Record<string, unknown> = { ...part };
  for (const key of percents) if (part[key] !== undefined) scaled[key] = part[key] * PERCENT;
  const decision = decide({ ...CALM, ...scaled });
  expect(decision).toEqual({ told: told * PERCENT, isRenewed, reason });
});

const parts = fc.integer({ min: 0, max: PARTS });
const situations = fc.record({
  held: parts,
  fair: parts,
  wanted: parts,
  free: fc.integer({ min: -PARTS, max: PARTS }),
  returning: parts,
  reserved: parts,
  isOverdue: fc.boolean(),
  isNew: fc.boolean(),
  learning: fc.constantFrom("no" as const, "growth" as const, "all" as const),
});

test("no member is told more than it holds and what is free, nor does it pass its fair share", () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const { held, fair, free, reserved } = situation;
      const { told, isRenewed } = decide(situation);
      expect(Number.isInteger(told)).toBe(true);
      expect(told).toBeLessThanOrEqual(held + Math.max(0, free - reserved));
      expect(told).toBeGreaterThanOrEqual(Math.min(held, fair));
      expect(told).toBeLessThanOrEqual(Math.max(held, fair));
      // What exceeds the fair share ends with the lease it has, except while the store learns.
      if (told > fair && situation.learning !== "all") expect(isRenewed).toBe(false);
    }),
  );
});
