import fc from "fast-check";
import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import { BrokerError } from "../../error/broker-error.ts";
import { ConnectionError } from "../../error/connection-error.ts";
import { DeadlineError } from "../../error/deadline-error.ts";
import { deferred } from "../../wait/deferred.ts";
import type { Deferred } from "../../wait/deferred.ts";
import { AckTracker } from "./ack-tracker.ts";
import type { AckTrackerOptions } from "./ack-tracker.ts";
import { MessageId } from "../../message/message-id.ts";
import { deliveryOf } from "../receive/delivery.ts";
import type { AckGroup } from "./pending-acks.ts";

interface World {
  readonly timer: VirtualTimer;
  readonly tracker: AckTracker;
  readonly channel: { isOpen: boolean };
  /** The entries of each command that went out. */
  readonly sent: number[][];
  readonly answers: Deferred<void>[];
  readonly ack: (entry: number) => Promise<void>;
}

function worldOf(options: Partial<AckTrackerOptions> = {}): World {
  const timer = new VirtualTimer();
  const sent: number[][] = [];
  const answers: Deferred<void>[] = [];
  const write = (group: AckGroup): void => {
    sent.push(group.individual.map(({ id }) => Number(id.entryId)));
  };
  const channel = {
    isOpen: true,
    send: write,
    request: (group: AckGroup): Promise<void> => {
      write(group);
      const answer = deferred<void>();
      answers.push(answer);
      return answer.promise;
    },
  };
  const tracker = new AckTracker(timer, channel, {
    groupTimeMs: 50,
    batchIndexAck: false,
    receipt: false,
    ...options,
  });
  const ack = (entry: number): Promise<void> =>
    tracker.ack((pending) => pending.ack(deliveryOf(new MessageId(1n, BigInt(entry))), 0));
  return { timer, tracker, channel, sent, answers, ack };
}

describe("without receipts", () => {
  test("acknowledgements within groupTimeMs are sent together, and ack does not wait for that", async () => {
    const { timer, sent, ack } = worldOf();
    await ack(1);
    await timer.advance(40);
    await ack(2);
    expect(sent).toEqual([]);
    await timer.advance(10);
    expect(sent).toEqual([[1, 2]]);
    await timer.advance(1_000);
    expect(sent).toHaveLength(1);
    expect(timer.sleeping).toBe(0);
  });

  test("a full group is sent at once", async () => {
    const { sent, ack } = worldOf();
    for (let entry = 0; entry < 1_000; entry++) await ack(entry);
    expect(sent.map((ids) => ids.length)).toEqual([1_000]);
  });

  test("acknowledgements without a connection wait for the next one, up to a bound", async () => {
    const { timer, tracker, channel, sent, ack } = worldOf();
    channel.isOpen = false;
    for (let entry = 0; entry < 100_000; entry++) await ack(entry);
    await expect(ack(100_000)).rejects.toBeInstanceOf(ConnectionError);
    await timer.advance(100);
    expect(sent).toEqual([]);
    channel.isOpen = true;
    tracker.flush();
    expect(sent.flat()).toHaveLength(100_000);
    expect(Math.max(...sent.map((ids) => ids.length))).toBe(1_000);
  });

  test("close sends the pending acknowledgements and refuses new ones", async () => {
    const { timer, tracker, sent, ack } = worldOf();
    await ack(1);
    await tracker.close();
    expect(sent).toEqual([[1]]);
    expect(timer.sleeping).toBe(0);
    await expect(ack(2)).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("with receipts", () => {
  test("the first is sent at once, the others together after its receipt", async () => {
    const { timer, tracker, sent, answers, ack } = worldOf({ receipt: true });
    tracker.flush();
    const acks = [ack(1), ack(2), ack(3)];
    expect(sent).toEqual([[1]]);
    answers[0]?.resolve();
    await acks[0];
    await timer.advance(0);
    expect(sent).toEqual([[1], [2, 3]]);
    answers[1]?.resolve();
    await Promise.all(acks);
  });

  test("the broker's refusal rejects the calls of its group", async () => {
    const { answers, ack } = worldOf({ receipt: true });
    const [first, second] = [ack(1), ack(2)];
    answers[0]?.reject(new BrokerError("NotAllowedError", "no"));
    await expect(first).rejects.toMatchObject({ code: "BROKER" });
    answers[1]?.resolve();
    await second;
  });

  test("no call succeeds if one of its groups was refused", async () => {
    const { timer, answers, ack } = worldOf({ receipt: true });
    const first = ack(0);
    const others = Promise.allSettled(Array.from({ length: 1_500 }, (_, at) => ack(at + 1)));
    answers[0]?.resolve();
    await first;
    await timer.advance(0);
    answers[1]?.reject(new BrokerError("NotAllowedError", "no"));
    await timer.advance(0);
    const later = ack(1_501);
    answers[2]?.resolve();
    expect(new Set((await others).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    await timer.advance(0);
    answers[3]?.resolve();
    await later;
  });

  test("a group in flight is sent again on the next connection", async () => {
    const { timer, tracker, channel, sent, answers, ack } = worldOf({ receipt: true });
    const acks = [ack(1), ack(2)];
    channel.isOpen = false;
    answers[0]?.reject(new ConnectionError("lost"));
    await timer.advance(0);
    channel.isOpen = true;
    tracker.flush();
    expect(new Set(sent.slice(1).flat())).toEqual(new Set([1, 2]));
    answers[1]?.resolve();
    await Promise.all(acks);
  });

  test("close waits for receipts in flight", async () => {
    const { timer, tracker, answers, ack } = worldOf({ receipt: true });
    const acked = ack(1);
    const order: string[] = [];
    const closing = (async () => {
      await tracker.close();
      order.push("closed");
    })();
    await timer.advance(0);
    order.push("receipt");
    answers[0]?.resolve();
    await Promise.all([closing, acked]);
    expect(order).toEqual(["receipt", "closed"]);
  });

  test("close without a connection rejects the waiting calls", async () => {
    const { tracker, channel, ack } = worldOf({ receipt: true });
    channel.isOpen = false;
    const acked = ack(1);
    const [result] = await Promise.allSettled([acked, tracker.close()]);
    expect(result).toMatchObject({ status: "rejected", reason: { code: "CLOSED" } });
  });
});

test("grouping loses and repeats nothing while the connection holds", async () => {
  const step = fc.oneof(
    fc.record({ acks: fc.integer({ min: 1, max: 1_500 }) }),
    fc.record({ passMs: fc.nat(120) }),
    fc.constant({ isFlush: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { timer, tracker, sent, ack } = worldOf();
      let entries = 0;
      for (const each of steps) {
        if ("acks" in each) for (let n = 0; n < each.acks; n++) await ack(entries++);
        else if ("passMs" in each) await timer.advance(each.passMs);
        else tracker.flush();
      }
      await tracker.close();
      expect(sent.flat()).toEqual(Array.from({ length: entries }, (_, entry) => entry));
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 30 },
  );
});

test("close waits for at most one missing receipt", async () => {
  const { tracker, ack, answers } = worldOf({ receipt: true });
  const acks = Array.from({ length: 3_000 }, (_, entry) => ack(entry));
  const settled = Promise.allSettled(acks);
  const closing = tracker.close();
  answers[0]?.reject(new DeadlineError("no answer"));
  await closing;
  expect(answers).toHaveLength(1);
  expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
});
