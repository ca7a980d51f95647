import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PartitionRoom, SendRoom } from "./send-room.ts";
import type { RoomWaiter } from "./send-room.ts";

const MESSAGES_MAX = 5;
const BYTES_MAX = 100;

type Step =
  | { readonly kind: "enter"; readonly partition: number; readonly sizeBytes: number }
  | { readonly kind: "leave"; readonly partition: number; readonly which: number }
  | { readonly kind: "give up"; readonly partition: number; readonly which: number };

const partition = fc.nat(2);
const which = fc.nat(20);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("enter" as const),
    partition,
    sizeBytes: fc.integer({ min: 1, max: 150 }),
  }),
  fc.record({ kind: fc.constant("leave" as const), partition, which }),
  fc.record({ kind: fc.constant("give up" as const), partition, which }),
);

/** A partition with the test's own record of what is inside and what waits. */
class Observed {
  readonly room: PartitionRoom;
  readonly waiting: RoomWaiter[] = [];
  readonly inside: number[] = [];
  #admitted = 0;
  #entered = 0;

  constructor(total: SendRoom) {
    this.room = new PartitionRoom(total);
  }

  enter(sizeBytes: number): void {
    const number = this.#entered++;
    const waiter: RoomWaiter = {
      messages: 1,
      sizeBytes,
      onAdmitted: () => {
        expect(number).toBeGreaterThanOrEqual(this.#admitted);
        this.#admitted = number + 1;
        this.inside.push(sizeBytes);
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
      },
    };
    this.waiting.push(waiter);
    this.room.enter(waiter);
  }

  leave(at: number): void {
    const [gone] = this.inside.splice(at, 1);
    if (gone !== undefined) this.room.leave(1, gone);
  }

  giveUp(at: number): void {
    const [gone] = this.waiting.splice(at, 1);
    if (gone !== undefined) expect(this.room.giveUp(gone)).toBe(true);
  }

  get bytes(): number {
    return this.inside.reduce((sum, each) => sum + each, 0);
  }
}

test.each([1, 3])(
  "with %i partitions the totals hold, each partition keeps its order, and no waiter is forgotten",
  (count) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const total = new SendRoom({ messagesMax: MESSAGES_MAX, bytesMax: BYTES_MAX });
        total.partitions = count;
        const all = Array.from({ length: count }, () => new Observed(total));
        for (const each of steps) {
          const observed = all[each.partition % count];
          if (each.kind === "enter") observed?.enter(each.sizeBytes);
          else if (each.kind === "leave") observed?.leave(each.which);
          else observed?.giveUp(each.which);
          const inside = all.flatMap((one) => one.inside);
          expect(total.messages).toBe(inside.length);
          expect(total.bytes).toBe(inside.reduce((sum, bytes) => sum + bytes, 0));
          expect(inside.length).toBeLessThanOrEqual(MESSAGES_MAX);
          // A message larger than the room is inside alone.
          if (inside.length > 1) expect(total.bytes).toBeLessThanOrEqual(BYTES_MAX);
          // A partition with nothing pending waits only for lack of room in total.
          for (const { room, waiting, inside: own } of all) {
            expect(room.waiting).toBe(waiting.length);
            const [first] = waiting;
            if (first === undefined || own.length > 0) continue;
            expect(total.hasRoomFor(first.sizeBytes, room)).toBe(false);
          }
        }
        // Once all have left, all have been admitted.
        for (let round = 0; round < 300; round++) for (const one of all) one.leave(0);
        expect(all.flatMap((one) => one.waiting)).toEqual([]);
        expect(total.messages).toBe(0);
      }),
    );
  },
);

test("a stuck partition takes half of the room, and the others go on in the other half", () => {
  const total = new SendRoom({ messagesMax: 10, bytesMax: 1_000 });
  total.partitions = 3;
  const [stuck, busy, calm] = [new Observed(total), new Observed(total), new Observed(total)];
  for (let count = 0; count < 20; count++) stuck.enter(1);
  expect(stuck.inside).toHaveLength(5);
  expect(stuck.room.isFull).toBe(true);
  for (let count = 0; count < 100; count++) {
    busy.enter(1);
    busy.leave(0);
    calm.enter(1);
    calm.leave(0);
  }
  expect([...busy.waiting, ...calm.waiting]).toEqual([]);
  expect(stuck.waiting).toHaveLength(15);
});

test("a stuck partition with large messages takes half of the bytes", () => {
  const total = new SendRoom({ messagesMax: 1_000, bytesMax: 1_000 });
  total.partitions = 2;
  const [stuck, other] = [new Observed(total), new Observed(total)];
  for (let count = 0; count < 20; count++) stuck.enter(100);
  expect(stuck.bytes).toBe(500);
  other.enter(400);
  expect(other.inside).toEqual([400]);
});

test("a call without a message waits for its turn but needs no room", () => {
  const room = new PartitionRoom(new SendRoom({ messagesMax: 1, bytesMax: 100 }));
  const order: string[] = [];
  const enter = (name: string, messages: 0 | 1): void =>
    room.enter({ messages, sizeBytes: messages, onAdmitted: () => order.push(name) });
  enter("first", 1);
  enter("second", 1);
  enter("flush", 0);
  expect(order).toEqual(["first"]);
  room.leave(1, 1);
  expect(order).toEqual(["first", "second", "flush"]);
});

test("10,000 waiters that all leave at once in their turn do not overflow the stack", () => {
  const total = new SendRoom({ messagesMax: 1, bytesMax: 1 });
  total.partitions = 100;
  const rooms = Array.from({ length: 100 }, () => new PartitionRoom(total));
  const [first] = rooms;
  first?.enter({ messages: 1, sizeBytes: 1, onAdmitted: () => undefined });
  let admitted = 0;
  for (const room of rooms)
    for (let count = 0; count < 100; count++)
      room.enter({
        messages: 1,
        sizeBytes: 1,
        onAdmitted: () => {
          admitted++;
          room.leave(1, 1);
        },
      });
  first?.leave(1, 1);
  expect(admitted).toBe(10_000);
});
