import { connect } from "@sluice/pulsar";

/** Sends one order, receives it and acknowledges it. */
export async function roundTrip(order: string): Promise<string> {
  const client = await connect("pulsar://127.0.0.1:6650");
  const consumer = await client.subscribe({ topic: "orders", subscription: "shop" });
  const producer = await client.createProducer({ topic: "orders" });
  await producer.send({ data: Buffer.from(order) }); // resolves once the broker has stored it
  const message = await consumer.receive();
  await consumer.ack(message);
  await client.close();
  return message.data.toString();
}
