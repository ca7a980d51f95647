import { EventEmitter, once } from "node:events";
import zlib from "node:zlib";
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Client, Consumer, ConsumerOptions, Message, MessageId } from "@sluice/pulsar";
import { bodyOf } from "../cases/body.ts";
import type {
  ConsumeCommand,
  ConsumeOutcome,
  Driver,
  ProduceCommand,
  ProduceOutcome,
  Run,
  SeenMessage,
} from "./driver.ts";
import type { FloodCommand, FloodOutcome } from "./flood.ts";
import { RecordingProxy } from "../servers/recording-proxy.ts";
import { sluiceFlood } from "./sluice-flood.ts";
import { Tally } from "./tally.ts";

/** Our own client, in this process. */
export class SluiceDriver implements Driver {
  readonly name = "sluice";
  readonly lacks: Driver["lacks"] =
    "createZstdCompress" in zlib ? {} : { zstd: "needs Node 22.15 or later for zstd" };
  readonly missing = undefined;

  produce(serviceUrl: string, command: ProduceCommand): Run<ProduceOutcome> {
    return running((onReady) => produce(serviceUrl, command, onReady));
  }

  consume(serviceUrl: string, command: ConsumeCommand): Run<ConsumeOutcome> {
    return running((onReady) => consume(serviceUrl, command, onReady));
  }

  flood(serviceUrl: string, command: FloodCommand): Run<FloodOutcome> {
    return running((onReady) => sluiceFlood(serviceUrl, command, onReady));
  }
}

function running<Outcome>(work: (onReady: () => void) => Promise<Outcome>): Run<Outcome> {
  const events = new EventEmitter();
  const ready = once(events, "ready");
  const onReady = (): void => void events.emit("ready");
  const outcome = work(onReady);
  // Whoever waits for a client that failed learns why from the outcome.
  outcome.then(onReady, onReady);
  return { ready, outcome };
}

async function produce(
  serviceUrl: string,
  command: ProduceCommand,
  onReady: () => void,
): Promise<ProduceOutcome> {
  const { topic, count, start = 0, keys, properties, batching, compression } = command;
  const client = await connect(serviceUrl, { token: command.token });
  try {
    const producer = await client.createProducer({ topic, batching, compression });
    const messages = Array.from({ length: count }, (_, at) => {
      const index = start + at;
      const key = keys === undefined ? undefined : `k${index % keys}`;
      return { data: bodyOf(index, command), key, properties };
    });
    onReady();
    const startedAtMs = systemTimer.now();
    const receipts = messages.map((message) => producer.send(message));
    const ids = await Promise.all(receipts);
    const ms = systemTimer.now() - startedAtMs;
    return { sent: ids.length, messageIds: command.list === true ? ids.map(idText) : [], ms };
  } finally {
    await client.close();
  }
}

async function consume(
  serviceUrl: string,
  command: ConsumeCommand,
  onReady: () => void,
): Promise<ConsumeOutcome> {
  // A process can vanish; a client within one cannot, but its network can.
  const proxy = command.abort === true ? await RecordingProxy.start(serviceUrl) : undefined;
  const client = await connect(proxy?.serviceUrl ?? serviceUrl, { token: command.token });
  try {
    const outcome = await read(client, command, onReady);
    await proxy?.close();
    return outcome;
  } finally {
    await client.close();
  }
}

async function read(
  client: Client,
  command: ConsumeCommand,
  onReady: () => void,
): Promise<ConsumeOutcome> {
  const consumer = await client.subscribe(consumerOptions(command));
  onReady();
  const { count, nackEvery = Infinity, ack } = command;
  const tally = new Tally();
  const messages: SeenMessage[] = [];
  const startedAtMs = systemTimer.now();
  const signal = AbortSignal.timeout(command.timeoutMs);
  let last: Message | undefined;
  for (let accepted = 0; accepted < count;) {
    const message = await receive(consumer, signal);
    if (message === undefined) break;
    const isNew = tally.add(message.data, message.redeliveryCount);
    if (command.list === true) messages.push(seen(message));
    if (isNew && tally.received % nackEvery === 0) {
      consumer.nack(message);
      continue;
    }
    accepted++;
    last = message;
    if (ack === "individual") await consumer.ack(message);
  }
  const ms = systemTimer.now() - startedAtMs;
  if (ack === "cumulative" && last !== undefined) await consumer.ackCumulative(last);
  return { ...tally.outcome(), messages, ms };
}

/** The next message, or nothing if the time is over. */
async function receive(consumer: Consumer, signal: AbortSignal): Promise<Message | undefined> {
  try {
    return await consumer.receive({ signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function consumerOptions(command: ConsumeCommand): ConsumerOptions {
  const { topic, topics, pattern, subscription, type, queue } = command;
  const localName = pattern?.slice(pattern.lastIndexOf("/") + 1);
  return {
    topic,
    topics,
    topicsPattern: localName === undefined ? undefined : new RegExp(`^${localName}$`),
    subscription,
    type,
    initialPosition: command.initialPosition ?? "earliest",
    receiverQueueSize: queue,
    nackRedeliveryDelayMs: 100,
  };
}

function seen(message: Message): SeenMessage {
  return {
    body: message.data.toString("base64"),
    key: message.key ?? null,
    properties: message.properties,
    messageId: idText(message.messageId),
    redeliveryCount: message.redeliveryCount,
  };
}

function idText({ ledgerId, entryId, partition, batchIndex }: MessageId): string {
  return `${ledgerId}:${entryId}:${partition}:${batchIndex}`;
}
