import { describe, expect, test } from "vitest";
import { contrast, DEFICIENCIES, distance } from "./contrast.ts";
import tokens from "./tokens.json";

const THEMES = ["dark", "light"] as const;
const BACKGROUNDS = ["bg", "surface", "raised"] as const;
const REASONS = Object.keys(tokens.dark).filter(
  (name): name is `r-${string}` & keyof typeof tokens.dark => name.startsWith("r-"),
);
/** The smallest OKLab distance between two reasons, × 100: that of the ten first colours. */
const APART = { dark: 8.7, light: 6.8 };

describe.each(THEMES)("the %s theme", (theme) => {
  const colors = tokens[theme];

  test.each(["text", "text-2", "text-3", "water", "amber", "red", "paused"] as const)(
    "%s can be read on every background",
    (ink) => {
      for (const back of BACKGROUNDS)
        expect(contrast(colors[ink], colors[back]), back).toBeGreaterThanOrEqual(4.5);
    },
  );

  test("text on the action's colour can be read", () => {
    expect(contrast(colors["on-water"], colors.water)).toBeGreaterThanOrEqual(4.5);
  });

  test.each([...REASONS, "control", "amber-fill", "focus"] as const)(
    "%s can be seen on every background",
    (ink) => {
      for (const back of BACKGROUNDS)
        expect(contrast(colors[ink], colors[back]), back).toBeGreaterThanOrEqual(3);
    },
  );

  test.each(Object.keys(DEFICIENCIES) as (keyof typeof DEFICIENCIES)[])(
    "two reasons stay apart for %s sight",
    (sight) => {
      expect(REASONS).toHaveLength(11);
      for (const [index, a] of REASONS.entries())
        for (const b of REASONS.slice(index + 1))
          // One digit behind the point, as the design states it.
          expect(
            Math.round(distance(colors[a], colors[b], sight) * 10) / 10,
            `${a} and ${b}`,
          ).toBeGreaterThanOrEqual(APART[theme]);
    },
  );
});
