import { expect, test } from "vitest";
import { proseRule } from "./prose-rule.ts";
import type { Recovery } from "./recovery.ts";
import { tableRule } from "./table-rule.ts";

test.each([
  [{ factor: 1 }, "recover.factor is 1, so a limit would never recover; use more than 1, e.g."],
  [{ factor: -2 }, "recover.factor is -2, so a limit would never recover"],
  [{ factor: 1.001 }, "recover.factor is 1.001; it must be a number from 1.01 to 9999999"],
  [{ factor: Number.NaN }, "recover.factor is NaN; it must be a number"],
  [{ value: 0 }, "recover.value is 0, so a limit would never recover; use more than 0, e.g."],
  [{ value: Infinity }, "recover.value is Infinity; it must be a number from 0.01 to 9999999"],
  [{ rate: 1 }, 'recover is {"rate":1}; use { factor: 3 } to triple the limit every second, or'],
])(
  "settings by which a limit never recovers are refused with the way out: %o",
  (recover, words) => {
    for (const rule of [tableRule, proseRule])
      expect(() => rule(recover as Recovery)).toThrow(words);
  },
);

test.each([{ factor: 1.01 }, { value: 0.01 }])("the least growth %o still recovers", (recover) => {
  for (const rule of [tableRule(recover), proseRule(recover)]) {
    for (const limit of [0.5, 1, 9_999_998])
      expect(rule(limit, { sent: 0, busy: 0 }).limit ?? Infinity).toBeGreaterThan(limit);
  }
});
