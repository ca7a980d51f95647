import fc from "fast-check";
import { expect, test } from "vitest";
import { Line } from "./line.ts";
import type { Waiter } from "./line.ts";

interface Named extends Waiter {
  readonly id: number;
}

test("keeps the order of a list that is sorted again for everybody who comes", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ join: fc.integer({ min: -2, max: 2 }) }),
      fc.record({ leave: fc.nat(30) }),
    ),
  );
  fc.assert(
    fc.property(steps, (all) => {
      const line = new Line<Named>();
      let model: Named[] = [];
      const everybody: Named[] = [];
      for (const step of all) {
        if ("join" in step) {
          const waiter: Named = { id: everybody.length, weight: 1, priority: step.join };
          everybody.push(waiter);
          line.join(waiter);
          // Sorting is stable: among equals whoever came first stays first.
          model = [...model, waiter].toSorted((a, b) => b.priority - a.priority);
        } else {
          const waiter = everybody[step.leave];
          if (waiter === undefined) continue;
          expect(line.leave(waiter)).toBe(model.includes(waiter));
          model = model.filter((other) => other !== waiter);
        }
        expect(line.length).toBe(model.length);
        expect(line.first).toBe(model[0]);
        expect(line.last).toBe(model.at(-1));
        expect(line.waiters()).toEqual(model);
      }
    }),
  );
});

test("links a waiter into one line only", () => {
  const [one, other] = [new Line<Waiter>(), new Line<Waiter>()];
  const waiter: Waiter = { weight: 1, priority: 0 };
  one.join(waiter);
  expect(() => other.join(waiter)).toThrow("one waiter stands in one line");
  expect(other.leave(waiter)).toBe(false);
  expect(one.leave(waiter)).toBe(true);
  other.join(waiter);
  expect(other.first).toBe(waiter);
});
