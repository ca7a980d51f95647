import assert from "node:assert/strict";
import { connect } from "@sluice/pulsar";

const client = await connect("pulsar://localhost:6650");
const consumer = await client.subscribe({ topic: "reports", subscription: "archive" });
const producer = await client.createProducer({ topic: "reports", chunking: true });

// Brokers accept 5 MiB per entry; this message is sent as 3 chunks and received as one message.
await producer.send({ data: Buffer.alloc(12_000_000, "x") });
const report = await consumer.receive();
assert.equal(report.data.length, 12_000_000);
await consumer.ack(report);
await client.close();
