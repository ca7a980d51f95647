import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import { entryKey } from "../receive/delivery.ts";
import type { Delivery } from "../receive/delivery.ts";
import { ackIdOf, PendingAcks } from "./pending-acks.ts";
import type { AckGroup } from "./pending-acks.ts";
import { UnackedSet } from "./unacked-set.ts";

const deliveryOf = (entry: number, size = 1, chunks: readonly number[] = []): Delivery => {
  const id = { ledgerId: 7n, entryId: BigInt(entry) };
  const chunkIds = chunks.map((each) => ({ ledgerId: 7n, entryId: BigInt(each) }));
  return { key: entryKey(id), id, chunkIds, unacked: new UnackedSet(size) };
};

const named = ({ entryId, ackSet }: MessageIdData): string =>
  ackSet === undefined ? `${entryId}` : `${entryId}/${ackSet.join()}`;

const namesOf = ({ cumulative, individual }: AckGroup): string[] => {
  const upTo = cumulative === undefined ? [] : [`<=${named(ackIdOf(cumulative))}`];
  return [...upTo, ...individual.map((entry) => named(ackIdOf(entry)))];
};

const takeAll = (pending: PendingAcks): string[] => namesOf(pending.take(1_000));

describe("without batch indexes", () => {
  test("an entry is acknowledged with the last of its messages", () => {
    const pending = new PendingAcks({ batchIndexAck: false });
    const batch = deliveryOf(3, 3);
    expect(pending.ack(batch, 2)).toBe(false);
    expect(pending.ack(batch, 0)).toBe(false);
    expect(takeAll(pending)).toEqual([]);
    expect(pending.ack(batch, 1)).toBe(true);
    expect(takeAll(pending)).toEqual(["3"]);
  });

  test("a cumulative acknowledgement within a batch reaches up to the batch before", () => {
    const pending = new PendingAcks({ batchIndexAck: false });
    const batch = deliveryOf(3, 3);
    pending.ackCumulative(batch, 1);
    expect(takeAll(pending)).toEqual(["<=2"]);
    pending.ackCumulative(batch, 2);
    expect(takeAll(pending)).toEqual(["<=3"]);
  });

  test("before the first entry of a ledger there is no id to acknowledge", () => {
    const pending = new PendingAcks({ batchIndexAck: false });
    expect(pending.ackCumulative(deliveryOf(0, 2), 0)).toBe(false);
    expect(pending.size).toBe(0);
  });
});

describe("with batch indexes", () => {
  test("the ack set of a batch is that of the time of sending", () => {
    const pending = new PendingAcks({ batchIndexAck: true });
    const batch = deliveryOf(3, 4);
    pending.ack(batch, 0);
    pending.ack(batch, 2);
    expect(takeAll(pending)).toEqual(["3/10"]);
    pending.ackCumulative(batch, 1);
    expect(takeAll(pending)).toEqual(["<=3/8"]);
    pending.ack(batch, 3);
    expect(takeAll(pending)).toEqual(["3"]);
  });

  test("an id acknowledges one message of a batch", () => {
    const pending = new PendingAcks({ batchIndexAck: true });
    pending.ackBatchIndex({ ledgerId: 7n, entryId: 3n }, 1, 3);
    pending.ackBatchIndex({ ledgerId: 7n, entryId: 3n }, 0, 3);
    expect(takeAll(pending)).toEqual(["3/4"]);
  });
});

test("a repeated acknowledgement is sent once", () => {
  const pending = new PendingAcks({ batchIndexAck: false });
  const single = deliveryOf(3);
  expect(pending.ack(single, 0)).toBe(true);
  expect(pending.ack(single, 0)).toBe(false);
  expect(takeAll(pending)).toEqual(["3"]);
});

test("the chunks of a message are acknowledged with it", () => {
  const pending = new PendingAcks({ batchIndexAck: false });
  pending.ack(deliveryOf(5, 1, [2, 4]), 0);
  expect(takeAll(pending)).toEqual(["5", "2", "4"]);
});

test("entries that a cumulative acknowledgement covers are not sent again", () => {
  const pending = new PendingAcks({ batchIndexAck: false });
  for (const entry of [1, 5, 3]) pending.ack(deliveryOf(entry), 0);
  pending.ackCumulative(deliveryOf(3), 0);
  pending.ack(deliveryOf(2), 0);
  expect(pending.ackCumulative(deliveryOf(1), 0)).toBe(false);
  expect(takeAll(pending)).toEqual(["<=3", "5"]);
});

test("after a seek, earlier entries can be acknowledged again", () => {
  const pending = new PendingAcks({ batchIndexAck: false });
  pending.ackCumulative(deliveryOf(9), 0);
  pending.clear();
  pending.ack(deliveryOf(2), 0);
  expect(takeAll(pending)).toEqual(["2"]);
});

test("for any grouping, loss and resend the broker has the same acknowledgements", () => {
  const sizes = [1, 3, 1, 70, 2];
  const step = fc.oneof(
    fc.record({ entry: fc.nat(sizes.length - 1), index: fc.nat(69), isCumulative: fc.boolean() }),
    fc.record({ send: fc.integer({ min: 1, max: 3 }), isLost: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, batchIndexAck) => {
      const pending = new PendingAcks({ batchIndexAck });
      const deliveries = sizes.map((size, entry) => deliveryOf(entry, size));
      const wanted = sizes.map((size) => new UnackedSet(size));
      const broker = sizes.map((size) => new UnackedSet(size));
      const send = (group: AckGroup): void => {
        const { cumulative } = group;
        if (cumulative !== undefined) {
          const upTo = Number(cumulative.id.entryId);
          broker.slice(0, upTo).forEach((each) => each.removeThrough(each.size));
          hear(ackIdOf(cumulative));
        }
        for (const entry of group.individual) hear(ackIdOf(entry));
      };
      const hear = ({ entryId, ackSet = [] }: MessageIdData): void => {
        const known = broker[Number(entryId)] ?? expect.unreachable();
        const left = new UnackedSet(known.size, ackSet);
        for (let index = 0; index < known.size; index++)
          if (ackSet.length === 0 || !left.has(index)) known.remove(index);
      };
      for (const each of steps) {
        if ("send" in each) {
          const group = pending.take(each.send);
          if (each.isLost) pending.restore(group);
          else send(group);
          continue;
        }
        const delivery = deliveries[each.entry] ?? expect.unreachable();
        const index = each.index % delivery.unacked.size;
        if (each.isCumulative) {
          pending.ackCumulative(delivery, index);
          wanted.slice(0, each.entry).forEach((before) => before.removeThrough(before.size));
          wanted[each.entry]?.removeThrough(index);
        } else {
          pending.ack(delivery, index);
          wanted[each.entry]?.remove(index);
        }
      }
      while (pending.size > 0) send(pending.take(2));
      const [knows, shouldKnow] = [broker, wanted].map((sets) =>
        sets.map((set) => (batchIndexAck || set.count === 0 ? set.toAckSet().join() : "some")),
      );
      expect(knows).toEqual(shouldKnow);
    }),
  );
});

test("a new connection gets all acknowledgements that may have been lost", () => {
  const pending = new PendingAcks({ batchIndexAck: false });
  pending.ackCumulative(deliveryOf(9), 0);
  expect(takeAll(pending)).toEqual(["<=9"]);
  expect(pending.ackCumulative(deliveryOf(5), 0)).toBe(false);
  pending.restart();
  expect(pending.ackCumulative(deliveryOf(5), 0)).toBe(true);
  pending.restart();
  expect(pending.ackCumulative(deliveryOf(4), 0)).toBe(false);
  expect(takeAll(pending)).toEqual(["<=5"]);
});
