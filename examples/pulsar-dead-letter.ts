import { connect } from "@sluice/pulsar";
import type { Message } from "@sluice/pulsar";

const ATTEMPTS_MAX = 3;

const client = await connect("pulsar://localhost:6650");
const payments = await client.createProducer({ topic: "payments" });
const deadLetters = await client.createProducer({ topic: "payments-billing-DLQ" });
const consumer = await client.subscribe({
  topic: "payments",
  subscription: "billing",
  type: "shared",
  initialPosition: "earliest",
  nackRedeliveryDelayMs: 100,
});
await payments.send({ data: "not a number" });

function charge({ data }: Message): void {
  if (Number.isNaN(Number(data.toString()))) throw new Error("no amount");
}

for await (const message of consumer) {
  try {
    charge(message);
    await consumer.ack(message);
  } catch {
    // The broker counts redeliveries; the first delivery has redeliveryCount 0.
    if (message.redeliveryCount + 1 < ATTEMPTS_MAX) {
      consumer.nack(message);
      continue;
    }
    const { data, key, messageId } = message;
    const properties = { ...message.properties, ORIGIN_MESSAGE_ID: messageId.toString() };
    await deadLetters.send({ data, key, properties });
    await consumer.ack(message);
    break;
  }
}
await client.close();
