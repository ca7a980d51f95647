import { expect, test } from "vitest";
import { connect } from "@sluice/pulsar";
import { isTooLate } from "./programs/optional.ts";
import { openBroker, realMissing } from "./servers/our-broker.ts";

/** A broker that was killed may take a while to own its topics again. */
const PATIENCE_MS = 60_000;

const isSkipped = (await realMissing()) !== undefined || isTooLate("broker-crash");

test.skipIf(isSkipped)(
  "our client goes on, losing nothing, when Pulsar's broker was killed and started again",
  async () => {
    const broker = await openBroker();
    const client = await connect(broker.serviceUrl);
    try {
      const topic = "persistent://public/default/crash";
      const producer = await client.createProducer({ topic, sendTimeoutMs: 0 });
      const consumer = await client.subscribe({
        topic,
        subscription: "crash",
        initialPosition: "earliest",
      });
      await Promise.all(texts(0, 100).map((data) => producer.send({ data })));
      await broker.kill();
      const held = texts(100, 200).map((data) => producer.send({ data }));
      await broker.restart();
      await Promise.all(held);
      const seen = new Set<string>();
      const signal = AbortSignal.timeout(PATIENCE_MS);
      while (seen.size < 200) {
        const message = await consumer.receive({ signal });
        seen.add(message.data.toString());
        await consumer.ack(message);
      }
      expect([...seen]).toEqual(texts(0, 200));
    } finally {
      await client.close();
    }
  },
);

function texts(from: number, until: number): string[] {
  return Array.from({ length: until - from }, (_, index) => String(from + index));
}
