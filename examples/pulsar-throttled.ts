import { connect, ProducerThrottledError } from "@sluice/pulsar";

const client = await connect("pulsar://localhost:6650", {
  onEvent: (event) => {
    if (event.type === "throttled") console.log(event.topic, event.reason, event.pauseMs);
  },
});
const producer = await client.createProducer({ topic: "orders", sendTimeoutMs: 5_000 });

try {
  // Waits while the broker limits the producer. A source that can slow down checks producer.isThrottled.
  await producer.send({ data: "tea" });
} catch (error) {
  if (!(error instanceof ProducerThrottledError)) throw error;
  console.log(`limited by ${error.reason}; next attempt in ${error.pauseLeftMs} ms`);
}
await client.close();
