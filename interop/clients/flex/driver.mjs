// Drives pulsar-flex, a client in pure JavaScript, by one command: driver.mjs <serviceUrl>.
import pulsarFlex from "pulsar-flex";
import { bodyOf, drive, say, Tally } from "./command-line.mjs";
import { floodFlows } from "./flood.mjs";

const { Consumer, Producer } = pulsarFlex;
const SILENT = 0;
/** It gives up on a request after ten seconds, so not too many may wait. */
const PENDING_MAX = 500;
const BATCH_MESSAGES = 100;
/** It drops what comes while its queue is exactly full, so batches must not fill it exactly. */
const QUEUE = 4999;

await drive({ produce, consume, flood });

function settings(serviceUrl, command) {
  return {
    topic: command.topic,
    discoveryServers: [new URL(serviceUrl).host],
    jwt: command.token,
    logLevel: SILENT,
  };
}

async function createProducer(serviceUrl, command) {
  const producer = new Producer({
    ...settings(serviceUrl, command),
    producerAccessMode: Producer.ACCESS_MODES.SHARED,
  });
  await producer.create();
  return producer;
}

async function produce(serviceUrl, command) {
  const producer = await createProducer(serviceUrl, command);
  const { count, start = 0, batching, properties = {} } = command;
  const bodies = Array.from({ length: count }, (_, at) => bodyOf(start + at, command));
  say("ready");
  const size = batching ? BATCH_MESSAGES : 1;
  const startedAtMs = performance.now();
  let pending = [];
  for (let at = 0; at < count; at += size) {
    const messages = bodies.slice(at, at + size).map((payload) => ({ payload, properties }));
    pending.push(batching ? producer.sendBatch({ messages }) : producer.sendMessage(messages[0]));
    if (pending.length < PENDING_MAX) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
  const ms = performance.now() - startedAtMs;
  await producer.close();
  say("done", { sent: count, messageIds: [], ms });
}

async function flood(serviceUrl, command) {
  const { token } = command;
  const producers = [];
  for (const { topic } of command.flows)
    producers.push(await createProducer(serviceUrl, { topic, token }));
  say("ready");
  const flows = await floodFlows(producers, command);
  for (const producer of producers) await producer.close();
  say("done", { flows });
}

async function consume(serviceUrl, command) {
  const { initialPosition = "earliest", queue = QUEUE, nackEvery = 0 } = command;
  const consumer = new Consumer({
    ...settings(serviceUrl, command),
    subscription: command.subscription,
    subType: Consumer.SUB_TYPES[command.type.toUpperCase()],
    consumerName: `flex-${process.pid}`,
    initialPosition: Consumer.INITIAL_POSITION[initialPosition.toUpperCase()],
    receiveQueueSize: queue,
  });
  await consumer.subscribe();
  say("ready");
  const tally = new Tally();
  const acks = [];
  const startedAtMs = performance.now();
  let accepted = 0;
  let last;
  await new Promise((resolve, reject) => {
    if (command.count === 0) resolve();
    setTimeout(resolve, command.timeoutMs);
    const onMessage = (delivery) => {
      if (accepted === command.count) return;
      const isNew = tally.add(delivery.message, delivery.redeliveryCount);
      if (command.list) say("message", seen(delivery));
      if (isNew && nackEvery > 0 && tally.received % nackEvery === 0) {
        delivery.ack({ type: Consumer.ACK_TYPES.NEGATIVE }).catch(reject);
        return;
      }
      accepted++;
      last = delivery;
      if (command.ack === "individual") acks.push(delivery.ack());
      if (accepted === command.count) resolve();
    };
    consumer.run({ onMessage, autoAck: false }).catch(reject);
  });
  const ms = performance.now() - startedAtMs;
  await Promise.all(acks);
  if (command.ack === "cumulative") await last?.ack({ type: Consumer.ACK_TYPES.CUMULATIVE });
  if (!command.abort) await consumer.unsubscribe();
  say("done", { ms, ...tally.outcome() });
}

function seen({ message, metadata, command, properties, redeliveryCount }) {
  const { ledgerid, entryid, partition, batchIndex } = command.messageId;
  return {
    body: message.toString("base64"),
    key: metadata.partitionKey || null,
    properties,
    messageId: [ledgerid, entryid, partition, batchIndex].join(":"),
    redeliveryCount,
  };
}
