import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";

const TOPIC = "non-persistent://public/default/t";

test("a consumer gets what is published while it has permits; the rest is dropped and counted", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer(TOPIC);
  const producer = await scene.producer(TOPIC);
  await producer.say("early", 2);
  consumer.handle.flow(2);
  for (const text of ["one", "two", "three"]) await producer.say(text);
  expect(await consumer.wait(2)).toEqual(["one", "two"]);
  consumer.handle.flow(10);
  consumer.handle.pause();
  await producer.say("paused");
  consumer.handle.resume();
  await producer.say("four");
  expect(await consumer.wait(1)).toEqual(["four"]);
  expect(scene.broker.stats()[0]?.droppedMessages).toBe(4);
  await scene.broker.close();
});

test("shared consumers take turns, and an exclusive subscription has one consumer", async () => {
  const scene = new BrokerScene();
  const shared = { type: "shared", subscription: "shared" } as const;
  const consumers = [await scene.consumer(TOPIC, shared), await scene.consumer(TOPIC, shared)];
  const alone = await scene.consumer(TOPIC);
  await expect(scene.consumer(TOPIC)).rejects.toMatchObject({ error: "ConsumerBusy" });
  for (const consumer of [...consumers, alone]) consumer.handle.flow(10);
  const producer = await scene.producer(TOPIC);
  for (const text of ["0", "1", "2", "3"]) await producer.say(text);
  await settle();
  expect(consumers.map(({ deliveries }) => deliveries.length)).toEqual([2, 2]);
  expect(await alone.wait(4)).toEqual(["0", "1", "2", "3"]);
  await scene.broker.close();
});

test("the next failover consumer becomes active when the first leaves", async () => {
  const scene = new BrokerScene();
  const first = await scene.consumer(TOPIC, { type: "failover" });
  const second = await scene.consumer(TOPIC, { type: "failover" });
  first.handle.close();
  expect(second.activeChanges).toEqual([true]);
  second.handle.flow(1);
  await (await scene.producer(TOPIC)).say("one");
  expect(await second.wait(1)).toEqual(["one"]);
  await scene.broker.close();
});

test("nothing can be sought where nothing is stored, and nothing stays behind", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer(TOPIC);
  await expect(consumer.handle.seek({ kind: "earliest" })).rejects.toMatchObject({
    error: "NotAllowedError",
  });
  await consumer.handle.unsubscribe();
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()).toEqual([]);
  expect(scene.broker.hasTopic(TOPIC)).toBe(false);
  await scene.broker.close();
});

test("what was on its way to a consumer that closes is not delivered", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer(TOPIC);
  const producer = await scene.producer(TOPIC);
  consumer.handle.flow(1);
  const receipt = producer.say("one");
  consumer.handle.close();
  await receipt;
  await settle();
  expect(consumer.deliveries).toEqual([]);
  await scene.broker.close();
  expect(producer.closed).toHaveLength(1);
});
