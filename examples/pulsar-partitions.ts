import assert from "node:assert/strict";
import { connect } from "@sluice/pulsar";

// "clicks" is a topic with 3 partitions.
const client = await connect("pulsar://localhost:6650");
const producer = await client.createProducer({ topic: "clicks", batching: true });
const consumer = await client.subscribe({ topic: "clicks", subscription: "count", type: "shared" });

// Messages of one key go to one partition, in order. Messages without a key go to all in turn.
const users = ["ann", "bob", "cid"];
await Promise.all(
  Array.from({ length: 30 }, (_, index) =>
    producer.send({ data: String(index), key: users[index % users.length] }),
  ),
);

const partitionOf = new Map<string, number>();
for (let count = 0; count < 30; count++) {
  const message = await consumer.receive();
  const { key = "", messageId } = message;
  assert.equal(partitionOf.get(key) ?? messageId.partition, messageId.partition);
  partitionOf.set(key, messageId.partition);
  await consumer.ack(message);
}
await client.close();
