import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageId } from "../../message/message-id.ts";
import { deliveryOf } from "../receive/delivery.ts";
import { RedeliverySchedule } from "./redelivery-schedule.ts";

const entry = (number: number): ReturnType<typeof deliveryOf> =>
  deliveryOf(new MessageId(1n, BigInt(number)));

const numbers = (ids: readonly { readonly entryId: bigint }[]): number[] =>
  ids.map(({ entryId }) => Number(entryId));

test("every entry is due once, delayMs after it was added, unless it is removed", () => {
  const step = fc.oneof(
    fc.record({ add: fc.nat(9) }),
    fc.record({ remove: fc.nat(9) }),
    fc.record({ passMs: fc.nat(150) }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const schedule = new RedeliverySchedule({ delayMs: 100 });
      const model = new Map<number, number>();
      let nowMs = 0;
      for (const each of steps) {
        if ("add" in each) {
          schedule.add(entry(each.add), nowMs);
          if (!model.has(each.add)) model.set(each.add, nowMs + 100);
        } else if ("remove" in each) {
          schedule.remove(entry(each.remove));
          model.delete(each.remove);
        } else {
          nowMs += each.passMs;
          const due = [...model].filter(([, dueAtMs]) => dueAtMs <= nowMs).map(([key]) => key);
          for (const key of due) model.delete(key);
          expect(numbers(schedule.takeDue(nowMs, 1_000))).toEqual(due);
        }
        expect(schedule.dueAtMs).toBe([...model.values()][0]);
      }
    }),
  );
});

test("above its bound the oldest entries are due at once", () => {
  const schedule = new RedeliverySchedule({ delayMs: 100, entriesMax: 2 });
  for (const number of [1, 2, 3, 4]) schedule.add(entry(number), 0);
  expect(numbers(schedule.takeDue(0, 1_000))).toEqual([1, 2]);
  expect(schedule.size).toBe(2);
});

test("one call takes at most the ids of one command", () => {
  const schedule = new RedeliverySchedule({ delayMs: 0 });
  for (const number of [1, 2, 3]) schedule.add(entry(number), 0);
  expect(numbers(schedule.takeDue(0, 2))).toEqual([1, 2]);
  expect(numbers(schedule.takeDue(0, 2))).toEqual([3]);
});
