import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { MessageId } from "../../message/message-id.ts";
import { deliveryOf } from "../receive/delivery.ts";
import { Redeliveries } from "./redeliveries.ts";

interface World {
  readonly timer: VirtualTimer;
  readonly redeliveries: Redeliveries;
  /** Entries that were asked for, and when. */
  readonly asked: (readonly [entry: number, atMs: number])[];
}

function worldOf(nackDelayMs: number, ackTimeoutMs: number): World {
  const timer = new VirtualTimer();
  const asked: (readonly [number, number])[] = [];
  const redeliveries = new Redeliveries(timer, {
    nackDelayMs,
    ackTimeoutMs,
    redeliver: (ids) => {
      for (const { entryId } of ids) asked.push([Number(entryId), timer.now()]);
    },
  });
  return { timer, redeliveries, asked };
}

const entry = (at: number): ReturnType<typeof deliveryOf> =>
  deliveryOf(new MessageId(1n, BigInt(at)));

test("a nacked entry waits for its own delay, not for the ack timeout", async () => {
  const { timer, redeliveries, asked } = worldOf(1_000, 60_000);
  redeliveries.onTaken(entry(1));
  redeliveries.onTaken(entry(2));
  redeliveries.onNacked(entry(2));
  await timer.advance(60_000);
  expect(asked).toEqual([
    [2, 1_000],
    [1, 60_000],
  ]);
  expect(timer.sleeping).toBe(0);
});

test("an unacknowledged entry does not wait for the nack delay", async () => {
  const { timer, redeliveries, asked } = worldOf(60_000, 1_000);
  redeliveries.onNacked(entry(1));
  redeliveries.onTaken(entry(2));
  await timer.advance(1_000);
  expect(asked).toEqual([[2, 1_000]]);
  redeliveries.clear();
  expect(timer.sleeping).toBe(0);
});

test("entries that are due within 100 ms are asked for together", async () => {
  const { timer, redeliveries, asked } = worldOf(0, 0);
  redeliveries.onNacked(entry(1));
  await timer.advance(50);
  redeliveries.onNacked(entry(2));
  await timer.advance(50);
  expect(asked).toEqual([
    [1, 100],
    [2, 100],
  ]);
});
