import { encodeEntry, splitEntry } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import type { TestConsumer } from "../../test/broker-scene.ts";

const METADATA = { producerName: "p", publishTime: 0n };

const textsOf = ({ deliveries }: TestConsumer): readonly string[] =>
  deliveries.map(({ bytes }) => splitEntry(Buffer.from(bytes)).payload.toString());

test("consumers of a Key_Shared subscription share the keys, and keep the order of each", async () => {
  const scene = new BrokerScene();
  const producer = await scene.producer("t");
  const consumers: TestConsumer[] = [];
  for (let count = 0; count < 3; count++) {
    const consumer = await scene.consumer("t", { type: "key-shared" });
    consumer.handle.flow(1000);
    consumers.push(consumer);
  }
  for (let number = 0; number < 200; number++) {
    const partitionKey = `key-${number % 40}`;
    const metadata = { ...METADATA, sequenceId: BigInt(number), partitionKey };
    const entry = encodeEntry(metadata, Buffer.from(`${number % 40}:${number}`));
    await producer.handle.publish({ parts: [entry], messageCount: 1 });
  }
  await settle();
  const keysOf = consumers.map(
    (consumer) => new Set(textsOf(consumer).map((text) => text.split(":")[0])),
  );
  for (const keys of keysOf) expect(keys.size).toBeGreaterThan(0);
  expect(keysOf.reduce((sum, keys) => sum + keys.size, 0)).toBe(40);
  for (const consumer of consumers)
    for (const key of new Set(textsOf(consumer).map((text) => text.split(":")[0]))) {
      const numbers = textsOf(consumer)
        .filter((text) => text.startsWith(`${key}:`))
        .map((text) => Number(text.split(":")[1]));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(numbers).toHaveLength(5);
    }
  expect(() =>
    consumers[0]?.handle.acknowledgeUpTo({ position: { ledgerId: 0, entryId: 0 } }),
  ).toThrow("one by one");
  await scene.broker.close();
});

test("entries without a key are spread, those with an ordering key go by it, and delays hold", async () => {
  const scene = new BrokerScene();
  const producer = await scene.producer("t");
  const consumers: TestConsumer[] = [];
  for (let count = 0; count < 2; count++) {
    const consumer = await scene.consumer("t", { type: "key-shared" });
    consumer.handle.flow(1000);
    consumers.push(consumer);
  }
  const send = async (text: string, more: object): Promise<void> => {
    const entry = encodeEntry({ ...METADATA, sequenceId: 0n, ...more }, Buffer.from(text));
    await producer.handle.publish({ parts: [entry], messageCount: 1 });
  };
  for (let number = 0; number < 50; number++) await send("none", { sequenceId: BigInt(number) });
  for (let number = 0; number < 20; number++)
    await send("ordered", { orderingKey: Buffer.from("o"), partitionKey: `p${number}` });
  await send("late", { partitionKey: "x", deliverAtTime: 2_000n });
  await settle();
  const texts = consumers.map(textsOf);
  for (const each of texts)
    expect(each.filter((text) => text === "none").length).toBeGreaterThan(5);
  const ordered = texts.map((each) => each.filter((text) => text === "ordered").length);
  expect(ordered.toSorted((a, b) => a - b)).toEqual([0, 20]);
  expect(texts.flat()).not.toContain("late");
  await scene.timer.advance(2_000);
  expect(consumers.flatMap(textsOf)).toContain("late");
  await scene.broker.close();
});
