/** Habits of real clients that the protocol alone does not tell, each as it was met. */
import {
  BatchWriter,
  encodeEntry,
  INITIAL_POSITION,
  NO_ID,
  SERVER_ERROR,
  SUB_TYPE,
} from "@sluice/pulsar/wire";
import { expect, onTestFinished, test } from "vitest";
import { startBroker } from "../src/start-broker.ts";
import { RawClient } from "./raw-client.ts";

const TOPIC = "persistent://public/default/habits";

async function connected(): Promise<RawClient> {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  onTestFinished(() => broker.close());
  const client = await RawClient.connected(broker.port);
  onTestFinished(() => client.close());
  return client;
}

test("Go's client sends empty texts for names that it does not give", async () => {
  const client = await connected();
  const names = { producerName: "", initialSubscriptionName: "" };
  client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 1n, ...names });
  const { producerName } = await client.next("producerSuccess");
  expect(producerName).not.toBe("");
});

test("Java's client reads the schema version of every producer, also if there is no schema", async () => {
  const client = await connected();
  client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 1n });
  const { schemaVersion } = await client.next("producerSuccess");
  expect(schemaVersion).toHaveLength(0);
});

test("readers ask for the last message, and of a batch they want to know which", async () => {
  const client = await connected();
  client.send("subscribe", {
    topic: TOPIC,
    subscription: "reader",
    subType: SUB_TYPE.exclusive,
    consumerId: 1n,
    requestId: 1n,
    durable: false,
    initialPosition: INITIAL_POSITION.earliest,
  });
  await client.next("success");
  client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 2n });
  await client.next("producerSuccess");

  const metadata = { producerName: "p", sequenceId: 0n, publishTime: 0n };
  const single = encodeEntry(metadata, Buffer.from("one"));
  client.send("send", { producerId: 1n, sequenceId: 0n }, single);
  const first = await client.next("sendReceipt");
  client.send("getLastMessageId", { consumerId: 1n, requestId: 3n });
  const one = await client.next("getLastMessageIdResponse");
  expect(one.lastMessageId).toMatchObject(idOf(first));
  expect(one.lastMessageId.batchIndex ?? -1).toBe(-1);

  const batch = new BatchWriter();
  for (const text of ["two", "three", "four"]) batch.add({}, Buffer.from(text));
  const entry = encodeEntry({ ...metadata, sequenceId: 1n, numMessagesInBatch: 3 }, batch.take());
  client.send("send", { producerId: 1n, sequenceId: 1n, numMessages: 3 }, entry);
  const second = await client.next("sendReceipt");
  client.send("getLastMessageId", { consumerId: 1n, requestId: 4n });
  const { lastMessageId } = await client.next("getLastMessageIdResponse");
  expect(lastMessageId).toMatchObject({ ...idOf(second), batchIndex: 2 });
});

function idOf({ messageId }: { readonly messageId?: unknown }): object {
  const { ledgerId, entryId } = messageId as { ledgerId: bigint; entryId: bigint };
  return { ledgerId, entryId };
}

test("Go's and Java's clients read figures from the answer to CONSUMER_STATS", async () => {
  const client = await connected();
  client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  client.send("subscribe", {
    topic: TOPIC,
    subscription: "s",
    subType: SUB_TYPE.shared,
    consumerId: 1n,
    requestId: 2n,
    consumerName: "c",
  });
  await client.next("success");
  const entry = encodeEntry(
    { producerName: "p", sequenceId: 0n, publishTime: 0n },
    Buffer.from("x"),
  );
  for (let sequenceId = 0n; sequenceId < 3n; sequenceId++) {
    client.send("send", { producerId: 1n, sequenceId }, entry);
    await client.next("sendReceipt");
  }
  client.send("flow", { consumerId: 1n, messagePermits: 2 });
  for (let count = 0; count < 2; count++) await client.next("message");
  client.send("consumerStats", { consumerId: 1n, requestId: 3n });
  expect(await client.next("consumerStatsResponse")).toMatchObject({
    requestId: 3n,
    consumerName: "c",
    type: "Shared",
    availablePermits: 0n,
    unackedMessages: 2n,
    blockedConsumerOnUnackedMsgs: false,
    msgBacklog: 3n,
    address: `127.0.0.1:${client.socket.localPort}`,
  });
  client.send("consumerStats", { consumerId: 9n, requestId: 4n });
  await client.next("error");
});

test("sticky consumers of a Key_Shared subscription name ranges of hashes, each its own", async () => {
  const client = await connected();
  const subscribe = (id: bigint, start: number, end: number): void =>
    client.send("subscribe", {
      topic: TOPIC,
      subscription: "keys",
      subType: SUB_TYPE.keyShared,
      consumerId: id,
      requestId: id,
      consumerName: `consumer-${id}`,
      keySharedMeta: { keySharedMode: 1, hashRanges: [{ start, end }] },
    });
  subscribe(1n, 0, 32_767);
  await client.next("success");
  subscribe(2n, 32_768, 65_535);
  await client.next("success");
  subscribe(3n, 32_000, 33_000);
  expect((await client.next("error")).error).toBe(SERVER_ERROR.ConsumerAssignError);
  for (const consumerId of [1n, 2n]) client.send("flow", { consumerId, messagePermits: 100 });
  client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 9n });
  await client.next("producerSuccess");
  const consumersOf = new Map<string, Set<bigint>>();
  for (let number = 0; number < 20; number++) {
    const partitionKey = `key-${number % 10}`;
    const metadata = { producerName: "p", sequenceId: BigInt(number), publishTime: 1n };
    const entry = encodeEntry({ ...metadata, partitionKey }, Buffer.from("x"));
    client.send("send", { producerId: 1n, sequenceId: BigInt(number) }, entry);
    const { consumerId } = await client.next("message");
    consumersOf.set(partitionKey, (consumersOf.get(partitionKey) ?? new Set()).add(consumerId));
  }
  const consumers = [...consumersOf.values()];
  expect(consumers.every(({ size }) => size === 1)).toBe(true);
  expect(new Set(consumers.flatMap((each) => [...each]))).toEqual(new Set([1n, 2n]));
});

test("clients count on from the last sequence id of their producer, and take a receipt without an id", async () => {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  onTestFinished(() => broker.close());
  const { policies } = broker.administered;
  await policies.setPolicy({ namespace: "public/default" }, "deduplication", true);
  const receipts: unknown[] = [];
  // The second connection sends again what the first has sent.
  for (const lastSequenceId of [-1n, 5n]) {
    const client = await RawClient.connected(broker.port);
    client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 1n, producerName: "p" });
    expect(await client.next("producerSuccess")).toMatchObject({ lastSequenceId });
    const metadata = { producerName: "p", sequenceId: 5n, publishTime: 0n };
    const entry = encodeEntry(metadata, Buffer.from("five"));
    client.send("send", { producerId: 1n, sequenceId: 5n }, entry);
    receipts.push(await client.next("sendReceipt"));
    client.send("closeProducer", { producerId: 1n, requestId: 2n });
    await client.next("success");
    client.close();
  }
  const none = { ledgerId: NO_ID, entryId: NO_ID };
  expect(receipts).toMatchObject([
    { sequenceId: 5n, messageId: { ledgerId: 0n, entryId: 0n } },
    { sequenceId: 5n, messageId: none },
  ]);
});

test("Go's client waits for ever after a SEND_ERROR of a terminated topic: its producer is closed instead", async () => {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  onTestFinished(() => broker.close());
  const client = await RawClient.connected(broker.port);
  onTestFinished(() => client.close());
  client.send("producer", { topic: TOPIC, producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  await broker.administered.broker.terminateTopic(TOPIC);
  const metadata = { producerName: "p", sequenceId: 0n, publishTime: 0n };
  client.send("send", { producerId: 1n, sequenceId: 0n }, encodeEntry(metadata, Buffer.from("x")));
  client.send("producer", { topic: TOPIC, producerId: 2n, requestId: 2n });
  const kinds = [await client.nextAny(), await client.nextAny()].map(({ command }) => command.kind);
  expect(kinds).toEqual(["closeProducer", "error"]);
});
