import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SendRoom } from "./send-room.ts";
import type { Entrant } from "./send-room.ts";

type Step =
  | { readonly kind: "enter"; readonly sizeBytes: number }
  | { readonly kind: "leave"; readonly which: number }
  | { readonly kind: "give up"; readonly which: number };

const step = fc.oneof(
  fc.record({ kind: fc.constant("enter" as const), sizeBytes: fc.integer({ min: 1, max: 150 }) }),
  fc.record({ kind: fc.constant("leave" as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant("give up" as const), which: fc.nat(20) }),
);

test("what is in stays within the bounds, and all come in as they came", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps: readonly Step[]) => {
      const room = new SendRoom({ messagesMax: 5, bytesMax: 100 });
      const waiting: { readonly number: number; readonly entrant: Entrant }[] = [];
      const inside: number[] = [];
      let entered = 0;
      let lastAdmitted = -1;
      for (const each of steps) {
        if (each.kind === "enter") {
          const number = entered++;
          const { sizeBytes } = each;
          const onAdmitted = (): void => {
            expect(number).toBeGreaterThan(lastAdmitted);
            lastAdmitted = number;
            inside.push(sizeBytes);
            waiting.splice(0, waiting.findIndex((other) => other.number === number) + 1);
          };
          const entrant = { messages: 1, sizeBytes, onAdmitted } as const;
          waiting.push({ number, entrant });
          room.enter(entrant);
        } else if (each.kind === "leave") {
          const [gone] = inside.splice(each.which, 1);
          if (gone !== undefined) room.leave(1, gone);
        } else {
          const [gone] = waiting.splice(each.which, 1);
          if (gone !== undefined) expect(room.giveUp(gone.entrant)).toBe(true);
        }
        const bytes = inside.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
        expect({ messages: room.messages, bytes: room.bytes, waiting: room.waiting }).toEqual({
          messages: inside.length,
          bytes,
          waiting: waiting.length,
        });
        expect(inside.length).toBeLessThanOrEqual(5);
        if (inside.length > 1) expect(bytes).toBeLessThanOrEqual(100);
        // Nobody waits beside room that is free.
        const first = waiting[0]?.entrant;
        if (first !== undefined)
          expect(inside.length === 5 || bytes + first.sizeBytes > 100).toBe(true);
      }
    }),
  );
});

test("who only waits for a turn takes no room, and keeps its place", () => {
  const room = new SendRoom({ messagesMax: 1, bytesMax: 100 });
  const order: string[] = [];
  const enter = (name: string, messages: 0 | 1): void =>
    room.enter({ messages, sizeBytes: messages, onAdmitted: () => order.push(name) });
  enter("a", 1);
  enter("turn", 0);
  enter("b", 1);
  enter("later", 0);
  expect(order).toEqual(["a", "turn"]);
  room.leave(1, 1);
  expect(order).toEqual(["a", "turn", "b", "later"]);
});

test("a long line of those who leave at once passes without nesting", () => {
  const room = new SendRoom({ messagesMax: 1, bytesMax: 1 });
  room.enter({ messages: 1, sizeBytes: 1, onAdmitted: () => undefined });
  let passed = 0;
  const onAdmitted = (): void => {
    passed++;
    room.leave(1, 1);
  };
  for (let count = 0; count < 50_000; count++)
    room.enter({ messages: 1, sizeBytes: 1, onAdmitted });
  room.leave(1, 1);
  expect(passed).toBe(50_000);
});
