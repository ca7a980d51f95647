import fc from "fast-check";
import { expect, test } from "vitest";
import { WaiterQueue } from "./waiter-queue.ts";
import type { Waiter } from "./waiter-queue.ts";

interface Named extends Waiter {
  readonly id: number;
}

test("waiters are in order of priority, then of arrival, however others join and leave", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ join: fc.integer({ min: -2, max: 2 }) }),
      fc.record({ leave: fc.nat(30) }),
    ),
  );
  fc.assert(
    fc.property(steps, (all) => {
      const queue = new WaiterQueue<Named>();
      let model: Named[] = [];
      const joined: Named[] = [];
      for (const step of all) {
        if ("join" in step) {
          const waiter: Named = { id: joined.length, weight: 1, priority: step.join };
          joined.push(waiter);
          queue.join(waiter);
          // Sorting is stable: equals stay in order of arrival.
          model = [...model, waiter].toSorted((a, b) => b.priority - a.priority);
        } else {
          const waiter = joined[step.leave];
          if (waiter === undefined) continue;
          expect(queue.leave(waiter)).toBe(model.includes(waiter));
          model = model.filter((other) => other !== waiter);
        }
        expect(queue.length).toBe(model.length);
        expect(queue.first).toBe(model[0]);
        expect(queue.last).toBe(model.at(-1));
        expect(queue.waiters()).toEqual(model);
      }
    }),
  );
});

test("a waiter is in one queue at most", () => {
  const [one, other] = [new WaiterQueue<Waiter>(), new WaiterQueue<Waiter>()];
  const waiter: Waiter = { weight: 1, priority: 0 };
  one.join(waiter);
  expect(() => other.join(waiter)).toThrow("in one queue at most");
  expect(other.leave(waiter)).toBe(false);
  expect(one.leave(waiter)).toBe(true);
  other.join(waiter);
  expect(other.first).toBe(waiter);
});
