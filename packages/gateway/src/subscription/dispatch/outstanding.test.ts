import { expect, test } from "vitest";
import { Consumer } from "../consumer.ts";
import { Outstanding } from "./outstanding.ts";

const consumerOf = (name: string): Consumer =>
  new Consumer({ name, priorityLevel: 0, unackedMax: 1_000_000 });

function filled(count: number): { outstanding: Outstanding; a: Consumer; b: Consumer } {
  const outstanding = new Outstanding();
  const [a, b] = [consumerOf("a"), consumerOf("b")];
  for (let entryId = 0; entryId < count; entryId++) {
    const consumer = entryId % 2 === 0 ? a : b;
    const position = { ledgerId: entryId >> 12, entryId };
    outstanding.add({ position, consumer, messageCount: 1, redeliveryCount: 0 });
  }
  return { outstanding, a, b };
}

test("what a consumer has comes back in steps, all of it and nothing else", () => {
  const { outstanding, a, b } = filled(20_000);
  outstanding.returnAll(a);
  const taken: number[] = [];
  let steps = 0;
  while (outstanding.isReturning) {
    const step = outstanding.takeReturned(() => false);
    expect(step.length).toBeLessThanOrEqual(1_000);
    taken.push(...step.map(({ position }) => position.entryId));
    steps++;
    // Acknowledged meanwhile: it does not come back.
    if (steps === 1) outstanding.remove({ ledgerId: 4, entryId: 19_998 });
  }
  expect(steps).toBeGreaterThanOrEqual(10);
  expect(taken).toEqual(Array.from({ length: 9_999 }, (_, index) => 2 * index));
  expect([a.unacked, b.unacked, outstanding.length]).toEqual([0, 10_000, 10_000]);
});

test("a second consumer that leaves during the walk has one of its own", () => {
  const { outstanding, a, b } = filled(5_000);
  outstanding.returnAll(a);
  outstanding.takeReturned(() => false);
  outstanding.returnAll(b);
  while (outstanding.isReturning) outstanding.takeReturned(() => false);
  expect([outstanding.length, outstanding.messages, b.heldEntries]).toEqual([0, 0, 0]);
});

test("entries that a skip acknowledged are taken out, those of all consumers", () => {
  const { outstanding } = filled(3_000);
  outstanding.returnAcked();
  while (outstanding.isReturning) outstanding.takeReturned(({ entryId }) => entryId < 1_000);
  expect(outstanding.length).toBe(2_000);
  expect(outstanding.get({ ledgerId: 0, entryId: 999 })).toBeUndefined();
});
