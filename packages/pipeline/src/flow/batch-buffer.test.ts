import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../message.ts";
import type { Batch } from "./batch.ts";
import { BatchBuffer } from "./batch-buffer.ts";
import { Origin } from "./origin.ts";

function batchOf(from: number, count: number): Batch {
  const messages = Array.from({ length: count }, (_, index): Message => {
    return { id: String(from + index), value: from + index, headers: {} };
  });
  return { messages, origins: messages.map((message) => new Origin(message)) };
}

test("messages leave in the order in which they came, with their origins, and never more than the capacity is held", () => {
  const steps = fc.array(
    fc.record({ isPut: fc.boolean(), count: fc.integer({ min: 1, max: 12 }) }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), steps, (capacity, plan) => {
      const buffer = new BatchBuffer(capacity);
      let [put, taken] = [0, 0];
      for (const { isPut, count } of plan) {
        if (isPut) {
          const room = capacity - (put - taken);
          expect(buffer.room).toBe(room);
          const to = buffer.put(batchOf(put, count));
          expect(to).toBe(Math.min(count, room));
          put += to;
        } else {
          const { messages, origins } = buffer.take(count);
          expect(messages).toHaveLength(Math.min(count, put - taken));
          expect(messages.map(({ value }) => value)).toEqual(
            messages.map((_, index) => taken + index),
          );
          expect(origins.map(({ message }) => message.id)).toEqual(messages.map(({ id }) => id));
          taken += messages.length;
        }
        expect(buffer.size).toBe(put - taken);
      }
    }),
  );
});

test("a batch that the reader has room for is not copied", () => {
  const buffer = new BatchBuffer(100);
  const batch = batchOf(0, 10);
  buffer.put(batch);
  expect(buffer.take(10)).toBe(batch);
});
