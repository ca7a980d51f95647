import { connect } from "@sluice/pulsar";
import type { Client } from "@sluice/pulsar";
import { systemTimer } from "@sluice/core/system";
import { startBrokerProcess } from "./broker-process.ts";

const PAYLOAD_BYTES = 1024;
const MESSAGES = 20_000;

/** Messages a second out of a backlog on disk. */
export interface BacklogRates {
  readonly queueOf1: number;
  readonly queueOf1000: number;
}

/**
 * Stores messages one by one, starts the broker anew, so that none is in its memory, and consumes
 * them with receive queues of both sizes.
 */
export async function backlogRates(): Promise<BacklogRates> {
  let broker = await startBrokerProcess("durable");
  try {
    await filled(broker.url);
    broker = await broker.restart();
    const client = await connect(broker.url);
    try {
      // Compiles both sides before anything is measured.
      await rate(client, { subscription: "warm-up", receiverQueueSize: 100, messages: 5_000 });
      const queueOf1 = await rate(client, {
        subscription: "one",
        receiverQueueSize: 1,
        messages: MESSAGES / 2,
      });
      const queueOf1000 = await rate(client, {
        subscription: "thousand",
        receiverQueueSize: 1000,
        messages: MESSAGES,
      });
      return { queueOf1, queueOf1000 };
    } finally {
      await client.close();
    }
  } finally {
    await broker.close();
  }
}

async function filled(url: string): Promise<void> {
  const client = await connect(url);
  try {
    for (const subscription of ["warm-up", "one", "thousand"])
      await (await client.subscribe({ topic: "backlog", subscription })).close();
    const producer = await client.createProducer({
      topic: "backlog",
      batching: false,
      pendingMessagesMax: MESSAGES,
    });
    const data = Buffer.alloc(PAYLOAD_BYTES, "sluice");
    await Promise.all(Array.from({ length: MESSAGES }, () => producer.send({ data })));
    await producer.close();
  } finally {
    await client.close();
  }
}

async function rate(
  client: Client,
  {
    subscription,
    receiverQueueSize,
    messages,
  }: {
    readonly subscription: string;
    readonly receiverQueueSize: number;
    readonly messages: number;
  },
): Promise<number> {
  const consumer = await client.subscribe({ topic: "backlog", subscription, receiverQueueSize });
  const startedAtMs = systemTimer.now();
  let seen = 0;
  for await (const message of consumer) {
    void consumer.ack(message);
    if (++seen === messages) break;
  }
  const perSecond = (messages / (systemTimer.now() - startedAtMs)) * 1000;
  await consumer.close();
  return perSecond;
}
