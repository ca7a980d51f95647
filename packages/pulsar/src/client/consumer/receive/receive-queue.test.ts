import fc from "fast-check";
import { expect, test } from "vitest";
import { ReceiveQueue } from "./receive-queue.ts";
import type { QueuedEntry } from "./receive-queue.ts";

const entryOf = (items: readonly number[], permits = items.length): QueuedEntry<number> => {
  const left = [...items];
  return { permits, next: () => left.shift() };
};

const queueOf = (size: number): ReceiveQueue<number> =>
  new ReceiveQueue({ size, onCorrupt: () => expect.unreachable() });

test("all permits are granted at first, then halves as messages are taken", () => {
  const queue = queueOf(4);
  expect(queue.takeFreed()).toBe(4);
  queue.add(entryOf([1, 2, 3]));
  expect(queue.take()).toBe(1);
  expect(queue.takeFreed()).toBe(0);
  expect(queue.take()).toBe(2);
  expect(queue.takeFreed()).toBe(2);
});

test("a batch that is larger than the queue takes one FLOW, with its last message", () => {
  const queue = queueOf(1);
  expect(queue.takeFreed()).toBe(1);
  queue.add(entryOf([1, 2, 3]));
  expect([queue.take(), queue.takeFreed()]).toEqual([1, 0]);
  expect([queue.take(), queue.takeFreed()]).toEqual([2, 0]);
  expect([queue.take(), queue.takeFreed()]).toEqual([3, 3]);
  expect(queue.granted).toBe(1);
});

test("no message is lost, reordered or doubled, and granted + queued + freed stays constant", () => {
  const step = fc.oneof(
    fc.record({ send: fc.integer({ min: 1, max: 7 }), missing: fc.nat(3) }),
    fc.record({ take: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ isPaused: fc.boolean() }),
    fc.constant({ isReset: true }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step), (size, steps) => {
      const queue = queueOf(size);
      let permits = 0;
      let nextItem = 0;
      let expected: number[] = [];
      const flow = (): void => {
        permits += queue.takeFreed();
      };
      flow();
      for (const each of steps) {
        if ("send" in each && permits > 0) {
          const items = Array.from({ length: each.send }, () => nextItem++);
          // What the broker counts and nobody gets: messages that compaction took out.
          queue.add(entryOf(items, each.send + each.missing));
          permits -= each.send + each.missing;
          expected.push(...items);
        } else if ("take" in each) {
          for (let count = 0; count < each.take; count++) {
            expect(queue.take()).toBe(expected.shift());
            flow();
          }
        } else if ("isPaused" in each) {
          queue.isPaused = each.isPaused;
          flow();
        } else if ("isReset" in each) {
          queue.reset();
          expected = [];
          permits = 0;
          flow();
        }
        expect(queue.granted).toBe(permits);
        expect(permits + queue.queued).toBeLessThanOrEqual(size);
        expect(queue.queued).toBeLessThan(size + 10);
      }
    }),
  );
});

test("a queue that is always emptied is always filled again", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 9 }), (size, batch) => {
      const queue = queueOf(size);
      let permits = queue.takeFreed();
      for (let round = 0; round < 50; round++) {
        expect(permits).toBeGreaterThan(0);
        queue.add(entryOf(Array.from({ length: batch }, (_, index) => index)));
        permits -= batch;
        while (queue.take() !== undefined) permits += queue.takeFreed();
        permits += queue.takeFreed();
      }
    }),
  );
});

test("a paused queue grants nothing, and everything when it resumes", () => {
  const queue = queueOf(4);
  expect(queue.takeFreed()).toBe(4);
  queue.add(entryOf([1, 2, 3, 4]));
  queue.isPaused = true;
  expect([queue.take(), queue.take(), queue.take()]).toEqual([1, 2, 3]);
  expect(queue.takeFreed()).toBe(0);
  queue.isPaused = false;
  expect(queue.takeFreed()).toBe(3);
});

test("a corrupt entry frees its permits, and the next one follows", () => {
  const corrupt: unknown[] = [];
  const queue = new ReceiveQueue<number>({
    size: 4,
    onCorrupt: (_, error) => corrupt.push(error),
  });
  queue.takeFreed();
  const broken = new Error("cut short");
  const left = [1];
  queue.add({
    permits: 3,
    next: () => {
      const item = left.shift();
      if (item === undefined) throw broken;
      return item;
    },
  });
  queue.add(entryOf([4]));
  expect([queue.take(), queue.take(), queue.take()]).toEqual([1, 4, undefined]);
  expect(corrupt).toEqual([broken]);
  expect(queue.takeFreed()).toBe(4);
});

test("dropped messages free their permits, and those on their way still count", () => {
  const queue = queueOf(10);
  queue.takeFreed();
  queue.add(entryOf([1, 2, 3]));
  expect(queue.take()).toBe(1);
  queue.clear();
  expect(queue.take()).toBeUndefined();
  queue.add(entryOf([4, 5]));
  expect(queue.take()).toBe(4);
  queue.skip(3);
  expect(queue.takeFreed()).toBe(7);
  expect(queue.granted + queue.queued).toBe(10);
});

test("a broker that ignores its permits is a protocol error", () => {
  const queue = queueOf(1);
  queue.takeFreed();
  expect(() => {
    for (let count = 0; count < 2_000; count++) queue.add(entryOf([count]));
  }).toThrow("beyond its permits");
  expect(queue.queued).toBeLessThanOrEqual(1_001);
});

test("a broker that sends entries of 0 messages without end is a protocol error", () => {
  const queue = queueOf(1);
  queue.takeFreed();
  expect(() => {
    for (let count = 0; count < 2_000; count++) queue.add(entryOf([], 0));
  }).toThrow("beyond its permits");
});
