import { connect } from "@sluice/pulsar";
import type { Client, ProducerOptions } from "@sluice/pulsar";
import { systemTimer } from "@sluice/core/system";
import { startBrokerProcess } from "./broker-process.ts";

const PAYLOAD_BYTES = 1024;
const MESSAGES = 20_000;

/** Messages in a batch. */
const BATCH = 100;

/** Messages a second out of a backlog on disk. */
export interface BacklogRates {
  readonly queueOf1: number;
  readonly queueOf1000: number;
}

/** Of entries with one message each, and of batches of 100. */
export interface Backlogs {
  readonly single: BacklogRates;
  readonly batches: BacklogRates;
}

/**
 * Stores messages, starts the broker anew, so that none is in its memory, and consumes them with
 * receive queues of both sizes.
 */
export async function backlogRates(): Promise<Backlogs> {
  let broker = await startBrokerProcess("durable");
  try {
    await filled(broker.url, { topic: "single", batching: false });
    await filled(broker.url, { topic: "batches", batching: { messagesMax: BATCH } });
    broker = await broker.restart();
    const client = await connect(broker.url);
    try {
      return { single: await ratesOf(client, "single"), batches: await ratesOf(client, "batches") };
    } finally {
      await client.close();
    }
  } finally {
    await broker.close();
  }
}

async function ratesOf(client: Client, topic: string): Promise<BacklogRates> {
  // Compiles both sides before anything is measured.
  await rate(client, topic, { subscription: "warm-up", receiverQueueSize: 10 });
  const queueOf1 = await rate(client, topic, { subscription: "one", receiverQueueSize: 1 });
  const queueOf1000 = await rate(client, topic, {
    subscription: "thousand",
    receiverQueueSize: 1000,
  });
  return { queueOf1, queueOf1000 };
}

async function filled(
  url: string,
  { topic, batching }: Pick<ProducerOptions, "topic" | "batching">,
): Promise<void> {
  const client = await connect(url);
  try {
    for (const subscription of ["warm-up", "one", "thousand"])
      await (await client.subscribe({ topic, subscription })).close();
    const producer = await client.createProducer({
      topic,
      batching,
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
  topic: string,
  options: { readonly subscription: string; readonly receiverQueueSize: number },
): Promise<number> {
  const consumer = await client.subscribe({ topic, ...options });
  const startedAtMs = systemTimer.now();
  let seen = 0;
  for await (const message of consumer) {
    void consumer.ack(message);
    if (++seen === MESSAGES) break;
  }
  const perSecond = (MESSAGES / (systemTimer.now() - startedAtMs)) * 1000;
  await consumer.close();
  return perSecond;
}
