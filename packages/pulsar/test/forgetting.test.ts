import type { SluiceError } from "@sluice/core";
import { queryObjects } from "node:v8";
import { expect, test } from "vitest";
import { TopicConsumer } from "../src/client/consumer/topic-consumer.ts";
import { TopicProducer } from "../src/client/producer/topic-producer.ts";
import { SERVER_ERROR } from "../src/wire/constants.ts";
import { ModelTopics } from "./model-topics.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";

const alive = (): number =>
  Number(queryObjects(TopicProducer)) + Number(queryObjects(TopicConsumer));

test("a client keeps no producer or consumer that was closed or has ended", async () => {
  const broker = new ScriptedBroker(new ModelTopics().script());
  // No events are kept: the stack of an error in "ended" would keep the producer.
  const { client } = await connectTo(broker, { onEvent: () => undefined });
  const before = alive();
  for (let count = 0; count < 100; count++) {
    const producer = await client.createProducer({ topic: "orders" });
    await producer.send({ data: "" });
    await producer.close();
    const consumer = await client.subscribe({ topic: "orders", subscription: "shop" });
    await consumer.close();
  }
  broker.script.send = ({ body: { producerId, sequenceId } }) => ({
    kind: "sendError",
    body: { producerId, sequenceId, error: SERVER_ERROR.TopicTerminatedError, message: "over" },
  });
  for (let count = 0; count < 100; count++) {
    const producer = await client.createProducer({ topic: "orders" });
    // Not by `rejects`: that keeps the error, and its stack keeps the producer.
    const code: unknown = await producer
      .send({ data: "" })
      .catch((error: SluiceError) => error.code);
    expect(code).toBe("BROKER");
  }
  expect(alive() - before).toBeLessThan(10);
  await client.close();
});
