import { systemTimer } from "@sluice/core/system";
import type { Client, Consumer, Producer } from "@sluice/pulsar";
import { percentile } from "./percentile.ts";

const PAYLOAD_BYTES = 1024;

/** Messages that are sent before the first of them must be stored. */
const IN_FLIGHT = 10_000;

/** Messages to one topic; in memory a topic holds 64 MiB. */
const MESSAGES_PER_TOPIC = 50_000;

export interface Throughput {
  /** Without a consumer. */
  readonly publishedPerSecond: number;
  /** Without a producer. */
  readonly consumedPerSecond: number;
  /** Until all was consumed, while the same process does both. */
  readonly bothPerSecond: number;
}

/** Publishes and consumes as fast as that goes, one after the other and at once, in several topics. */
export async function throughput(
  client: Client,
  { topic, topics }: { readonly topic: string; readonly topics: number },
): Promise<Throughput> {
  let publishMs = 0;
  let consumeMs = 0;
  let bothMs = 0;
  for (let index = 0; index < topics; index++) {
    const apart = await open(client, `${topic}-apart-${index}`);
    apart.consumer.pause();
    publishMs += await timed(() => publish(apart.producer, MESSAGES_PER_TOPIC));
    apart.consumer.resume();
    consumeMs += await timed(() => consume(apart.consumer, MESSAGES_PER_TOPIC, () => undefined));
    await closed(apart);
    const atOnce = await open(client, `${topic}-at-once-${index}`);
    bothMs += await timed(async () => {
      const consumed = consume(atOnce.consumer, MESSAGES_PER_TOPIC, () => undefined);
      await publish(atOnce.producer, MESSAGES_PER_TOPIC);
      await consumed;
    });
    await closed(atOnce);
  }
  const perSecond = (ms: number): number => ((topics * MESSAGES_PER_TOPIC) / ms) * 1000;
  return {
    publishedPerSecond: perSecond(publishMs),
    consumedPerSecond: perSecond(consumeMs),
    bothPerSecond: perSecond(bothMs),
  };
}

/** From the call of `send` until a consumer has the message, at a steady rate: the 99th percentile. */
export async function latencyP99Ms(
  client: Client,
  { topic, perSecond, seconds }: { topic: string; perSecond: number; seconds: number },
): Promise<number> {
  const { producer, consumer } = await open(client, topic);
  // The first second shows how long it takes to get under way.
  const total = perSecond * (seconds + 1);
  const latenciesMs: number[] = [];
  let seen = 0;
  const consumed = consume(consumer, total, (data) => {
    if (seen++ >= perSecond) latenciesMs.push(systemTimer.now() - data.readDoubleBE(0));
  });
  const startedAtMs = systemTimer.now();
  let sent = 0;
  while (sent < total) {
    const due = Math.min(total, ((systemTimer.now() - startedAtMs) / 1000) * perSecond);
    for (; sent < due; sent++) {
      const data = Buffer.allocUnsafe(PAYLOAD_BYTES);
      data.writeDoubleBE(systemTimer.now(), 0);
      void producer.send({ data });
    }
    await systemTimer.sleep(1);
  }
  await producer.flush();
  await consumed;
  await closed({ producer, consumer });
  return percentile(latenciesMs, 0.99);
}

interface Ends {
  readonly producer: Producer;
  readonly consumer: Consumer;
}

async function closed({ producer, consumer }: Ends): Promise<void> {
  await Promise.all([producer.close(), consumer.close()]);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAtMs = systemTimer.now();
  await work();
  return systemTimer.now() - startedAtMs;
}

async function open(client: Client, topic: string): Promise<Ends> {
  const consumer = await client.subscribe({
    topic,
    subscription: "bench",
    receiverQueueSize: 5000,
  });
  const producer = await client.createProducer({
    topic,
    batching: true,
    pendingMessagesMax: 2 * IN_FLIGHT,
  });
  return { producer, consumer };
}

async function publish(producer: Producer, messages: number): Promise<void> {
  const data = Buffer.alloc(PAYLOAD_BYTES, "sluice");
  let former: Promise<unknown> = Promise.resolve();
  for (let sent = 0; sent < messages;) {
    const group: Promise<unknown>[] = [];
    for (let count = 0; count < IN_FLIGHT / 2 && sent < messages; count++, sent++)
      group.push(producer.send({ data }));
    await former;
    former = Promise.all(group);
  }
  await former;
}

async function consume(
  consumer: Consumer,
  messages: number,
  each: (data: Buffer) => void,
): Promise<void> {
  let seen = 0;
  for await (const message of consumer) {
    each(message.data);
    void consumer.ack(message);
    if (++seen === messages) return;
  }
}
