import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../../test/broker-scene.ts";
import type { ByteBudget, ByteUse } from "../../memory/byte-budget.ts";

/** Counts, and notes the most that was ever held. */
class CountingBudget implements ByteBudget {
  bytes = 0;
  mostBytes = 0;
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get isExhausted(): boolean {
    return this.bytes >= this.bytesMax;
  }

  get isDeliveryExhausted(): boolean {
    return this.isExhausted;
  }

  readonly isCrowded = false;
  readonly isFull = false;
  readonly peerBytes = 0;

  bytesOf(use: ByteUse): number {
    return use === "read-ahead" ? this.bytes : 0;
  }

  reserve(_: ByteUse, bytes: number): void {
    this.bytes += bytes;
    this.mostBytes = Math.max(this.mostBytes, this.bytes);
  }

  release(_: ByteUse, bytes: number): void {
    this.bytes -= bytes;
    if (this.bytes < 0) throw new Error("more was released than reserved");
  }

  whenFree(): () => void {
    throw new Error("read-ahead waits for nothing");
  }
}

const ENTRY_BYTES = 1_000;

test.each(["exclusive", "shared"] as const)(
  "many %s subscriptions of a client that reads nothing hold no more than the budget, and others go on",
  async (type) => {
    const memory = new CountingBudget(100 * ENTRY_BYTES);
    const scene = new BrokerScene(
      undefined,
      { limits: { readBytesMax: 20 * ENTRY_BYTES } },
      { memory },
    );
    const producer = await scene.producer("t");
    for (let number = 0; number < 100; number++)
      await producer.say(`${number}`.padStart(ENTRY_BYTES), 10);
    // Each takes one entry of the twenty that it reads, then its socket is full.
    const stuck = [];
    for (let number = 0; number < 50; number++) {
      const consumer = await scene.consumer("t", {
        subscription: `stuck-${number}`,
        type,
        start: { kind: "earliest" },
        deliver: (deliveries) => {
          consumer.handle.pause();
          consumer.onDelivered(deliveries);
        },
      });
      stuck.push(consumer);
      consumer.handle.flow(10);
      await settle();
      consumer.handle.flow(1000);
      await settle();
    }
    // The budget, and the read that finds it not exhausted yet.
    expect(memory.mostBytes).toBeLessThanOrEqual(120 * ENTRY_BYTES);
    const honest = await scene.consumer("t", { subscription: "honest", type });
    honest.handle.flow(1000);
    expect((await honest.wait(100)).map(Number)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    for (const consumer of stuck) consumer.handle.resume();
    for (let turns = 0; turns < 50; turns++) {
      for (const consumer of stuck) {
        // While memory is short, a shared consumer gets more only for what it acknowledges.
        consumer.acknowledgeAll();
        consumer.handle.resume();
      }
      await settle();
    }
    for (const { deliveries } of stuck)
      expect(deliveries.map(({ position }) => position.entryId)).toEqual(
        Array.from({ length: 100 }, (_, n) => n),
      );
    await scene.broker.close();
    expect(memory.bytes).toBe(0);
  },
);

test("a budget that others have used up slows consumers down to single entries and stops none", async () => {
  const memory = new CountingBudget(1);
  memory.reserve("publish", 1);
  const scene = new BrokerScene(undefined, {}, { memory });
  const producer = await scene.producer("t");
  for (let number = 0; number < 20; number++) await producer.say(`${number}`.padStart(ENTRY_BYTES));
  const consumer = await scene.consumer("t");
  consumer.handle.flow(1000);
  expect(await consumer.wait(20)).toHaveLength(20);
  expect(memory.mostBytes).toBeLessThanOrEqual(1 + ENTRY_BYTES);
  await scene.broker.close();
  expect(memory.bytes).toBe(1);
});
