import { connect } from "@sluice/pulsar";

const client = await connect("pulsar://localhost:6650");
const consumer = await client.subscribe({ topic: "orders", subscription: "shop" });
const producer = await client.createProducer({ topic: "orders" });

const id = await producer.send({ data: "tea", key: "order-17" });
console.log(`stored as ${id.toString()}`);

const message = await consumer.receive();
console.log(message.key, message.data.toString());
await consumer.ack(message);
await client.close();
