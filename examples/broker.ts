import { startBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";

// data: { folder: "./queue" } keeps everything; port 6650 is where Pulsar clients look.
const broker = await startBroker({ data: "memory", listen: "pulsar://127.0.0.1:0" });
const client = await connect(broker.url);
const consumer = await client.subscribe({ topic: "orders", subscription: "shop" });
const producer = await client.createProducer({ topic: "orders" });
await producer.send({ data: "tea" });
const message = await consumer.receive();
console.log(message.data.toString(), broker.stats().topics[0]?.name);
await client.close();
await broker.close();
