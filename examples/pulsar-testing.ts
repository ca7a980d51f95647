import assert from "node:assert/strict";
import { startBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";

// Any Pulsar broker will do. This one is embedded: here in memory, and on a port that is free.
const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
const client = await connect(broker.url);

// Resolves with the message's id once the broker has it. Many at once go out together.
const producer = await client.createProducer({ topic: "public/default/orders", batching: true });
const shop = {
  topic: "orders",
  subscription: "shop",
  type: "shared",
  batchIndexAck: true,
} as const;
const first = await client.subscribe(shop);
const ids = await Promise.all(
  ["tea", "milk", "sugar"].map((what) =>
    producer.send({ data: Buffer.from(what), key: "order-17", properties: { tenant: "shop" } }),
  ),
);
assert.equal(new Set(ids.map(String)).size, 3);

// A message is given out again until it is acknowledged; here the last one is not, at first.
const seen: string[] = [];
for await (const message of first) {
  assert.equal(message.key, "order-17");
  seen.push(message.data.toString());
  if (seen.length === 3) break;
  await first.ack(message);
}
assert.deepEqual(seen, ["tea", "milk", "sugar"]);
await first.close();

const second = await client.subscribe(shop);
const again = await second.receive();
assert.equal(again.data.toString(), "sugar");
await second.ack(again);

// Closes the producer, which first sends what it has, and the consumer.
await client.close();
await broker.close();
