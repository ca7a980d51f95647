import { afterEach, describe, expect, test } from "vitest";
import { SERVER_ERROR } from "../src/wire/constants.ts";
import { decodeMetadata, splitEntry } from "../src/wire/entry.ts";
import { splitBatch } from "../src/wire/batch.ts";
import type { Entry } from "../src/wire/entry.ts";
import type { Client } from "../src/client/api/client.ts";
import type { Producer } from "../src/client/producer/producer.ts";
import type { ProducerOptions } from "../src/client/producer/producer-options.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";
import type { VirtualClient } from "./virtual-client.ts";

const TOPIC = "persistent://public/default/orders";

let opened: VirtualClient[] = [];

/** Nothing may be left of any client: no sleep, no connection. */
afterEach(async () => {
  const all = opened;
  opened = [];
  for (const { client, timer } of all) {
    const closing = client.close();
    await timer.advance(60_000);
    await closing;
    expect(timer.sleeping).toBe(0);
  }
});

async function start(broker: ScriptedBroker): Promise<VirtualClient> {
  const connected = await connectTo(broker);
  opened.push(connected);
  return connected;
}

async function produce(
  broker: ScriptedBroker,
  options: Partial<ProducerOptions> = {},
): Promise<VirtualClient & { producer: Producer }> {
  const connected = await start(broker);
  const producer = await connected.client.createProducer({ topic: "orders", ...options });
  return { ...connected, producer };
}

function entryOf(broker: ScriptedBroker, index: number): Entry {
  const stored = broker.stored[index];
  if (stored === undefined) throw new Error(`nothing was stored as ${index}`);
  return splitEntry(stored.entry);
}

/** A peer that stores nothing and says nothing. */
function silent(): ScriptedBroker {
  return new ScriptedBroker({ send: () => undefined });
}

async function partitioned(
  options: Partial<ProducerOptions> = {},
): Promise<VirtualClient & { broker: ScriptedBroker; producer: Producer; client: Client }> {
  const broker = new ScriptedBroker();
  broker.partitions.set(TOPIC, 3);
  return { broker, ...(await produce(broker, options)) };
}

describe("a message", () => {
  test("is stored with all its fields, and its id comes back", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker);
    const id = await producer.send({
      data: "hello",
      key: Uint8Array.of(1, 2),
      orderingKey: Uint8Array.of(3),
      properties: { a: "b" },
      eventTimeMs: 5,
      deliverAfterMs: 1_000,
    });
    expect(id.toString()).toBe("7:0:-1");
    expect(broker.stored[0]?.topic).toBe(TOPIC);
    const entry = entryOf(broker, 0);
    expect(entry.payload.toString()).toBe("hello");
    expect(decodeMetadata(entry)).toEqual({
      producerName: "scripted-0",
      sequenceId: 0n,
      publishTime: 1_700_000_000_000n,
      properties: [{ key: "a", value: "b" }],
      partitionKey: "AQI=",
      partitionKeyB64Encoded: true,
      orderingKey: Buffer.of(3),
      eventTime: 5n,
      deliverAtTime: 1_700_000_001_000n,
    });
  });

  test("above maxMessageSize is refused and not sent", async () => {
    const broker = new ScriptedBroker({
      connect: () => ({ kind: "connected", body: { serverVersion: "", maxMessageSize: 1_000 } }),
    });
    for (const compression of ["none", "lz4"] as const) {
      const { producer } = await produce(broker, { compression, batching: { messagesMax: 1 } });
      const noise = Buffer.from(Array.from({ length: 1_001 }, (_, at) => (at * at * 7) >> 3));
      await expect(producer.send({ data: noise })).rejects.toMatchObject({ code: "CONFIG" });
      const properties = { a: "x".repeat(12_000) };
      await expect(producer.send({ data: "", properties })).rejects.toMatchObject({
        code: "CONFIG",
      });
      await producer.send({ data: noise.subarray(0, 900) });
      expect(producer.pendingMessages).toBe(0);
    }
    expect(broker.stored).toHaveLength(2);
  });

  test("is sent in chunks, and in the same chunks again after a lost connection", async () => {
    const broker = new ScriptedBroker({
      connect: () => ({ kind: "connected", body: { serverVersion: "", maxMessageSize: 1_000 } }),
    });
    const options = { chunking: true, name: "mine", pendingMessagesMax: 1 };
    const { producer, timer } = await produce(broker, options);
    const data = Buffer.from(Array.from({ length: 2_500 }, (_, at) => at % 251));
    broker.script.send = (command, session, entry) => {
      broker.script.send = (...all) => broker.store(...all);
      const receipt = broker.store(command, session, entry);
      session.tell(receipt);
      session.link.pause();
      void Promise.resolve().then(() => Promise.resolve().then(() => session.cut()));
      return undefined;
    };
    const sent = producer.send({ data, properties: { a: "b" } });
    const flushed = producer.flush();
    await timer.advance(1_000);
    expect((await sent).entryId).toBe(2n);
    await flushed;
    const entries = broker.stored.map((_, at) => entryOf(broker, at));
    expect(Buffer.concat(entries.map(({ payload }) => payload))).toEqual(data);
    expect(entries.map(decodeMetadata).map(({ chunkId }) => chunkId)).toEqual([0, 1, 2]);
    expect(entries.map(decodeMetadata)[2]).toMatchObject({
      uuid: "mine-0",
      numChunksFromMsg: 3,
      totalChunkMsgSize: 2_500,
      properties: [{ key: "a", value: "b" }],
    });
    expect(producer.pendingMessages).toBe(0);
    await producer.send({ data: "next" });
    expect(broker.stored.at(-1)?.sequenceId).toBe(1n);
    const isChunk = broker.last.heard.map(({ kind, ...rest }) => kind === "send" && rest);
    expect(isChunk.slice(-2)).toMatchObject([{ body: { isChunk: true } }, { body: {} }]);
  });

  test.each([
    [{ data: 5 }],
    [{ data: "", colour: "red" }],
    [{ data: "", properties: { a: 1 } }],
    [{ data: "", deliverAtMs: 1, deliverAfterMs: 1 }],
    [{ data: "", eventTimeMs: -1 }],
  ])("that cannot be right is refused: %j", async (message) => {
    const { producer } = await produce(new ScriptedBroker());
    await expect(producer.send(message as never)).rejects.toMatchObject({ code: "CONFIG" });
  });

  test.each(["lz4", "zlib", "snappy"] as const)("is compressed by %s", async (compression) => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker, { compression });
    await producer.send({ data: "x".repeat(5_000) });
    const entry = entryOf(broker, 0);
    expect(entry.payload.length).toBeLessThan(500);
    expect(decodeMetadata(entry)).toMatchObject({ uncompressedSize: 5_000 });
  });
});

describe("sequence ids", () => {
  test("continue after the last one that the broker has stored for the name", async () => {
    const broker = new ScriptedBroker({
      producer: ({ body: { requestId } }) => ({
        kind: "producerSuccess",
        body: { requestId, producerName: "mine", lastSequenceId: 41n },
      }),
    });
    const { producer } = await produce(broker, { name: "mine" });
    await producer.send({ data: "" });
    await producer.send({ data: "", sequenceId: 50n });
    await producer.send({ data: "" });
    await expect(producer.send({ data: "", sequenceId: 51n })).rejects.toThrow(
      /use a value above 51/,
    );
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([42n, 50n, 51n]);
    expect(producer.lastSequenceId).toBe(51n);
  });

  test("begin at initialSequenceId", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker, { initialSequenceId: 9n });
    await producer.send({ data: "" });
    expect(broker.stored[0]?.sequenceId).toBe(9n);
  });
});

describe("a batch", () => {
  test("is sent when it is full by count, by bytes, or when delayMaxMs has passed", async () => {
    const broker = new ScriptedBroker();
    const batching = { messagesMax: 3, bytesMax: 1_000, delayMaxMs: 10 };
    const { producer, timer } = await produce(broker, { batching });
    const ids = [1, 2, 3].map((each) =>
      producer.send({ data: `${each}`, key: `k${each}`, properties: { each: `${each}` } }),
    );
    expect((await Promise.all(ids)).map(String)).toEqual(["7:0:-1:0", "7:0:-1:1", "7:0:-1:2"]);
    const large = { data: Buffer.alloc(600) };
    const sends = [producer.send(large), producer.send(large)];
    await sends[0];
    expect(broker.stored).toHaveLength(2);
    await timer.advance(9);
    expect(broker.stored).toHaveLength(2);
    await timer.advance(1);
    await sends[1];
    expect(broker.stored.map(({ messages }) => messages)).toEqual([3, 1, 1]);
    const entry = entryOf(broker, 0);
    const metadata = decodeMetadata(entry);
    expect(metadata).toEqual({
      producerName: "scripted-0",
      sequenceId: 0n,
      publishTime: 1_700_000_000_000n,
      partitionKey: "k1",
      numMessagesInBatch: 3,
      highestSequenceId: 2n,
    });
    const messages = [...splitBatch(entry.payload, 3)];
    expect(messages.map(({ payload }) => payload.toString())).toEqual(["1", "2", "3"]);
    expect(messages.map(({ metadata: { sequenceId } }) => sequenceId)).toEqual([0n, 1n, 2n]);
    expect(messages.map(({ metadata: { partitionKey } }) => partitionKey)).toEqual([
      "k1",
      "k2",
      "k3",
    ]);
  });

  test("has its own delay, also after a batch that filled up early", async () => {
    const broker = new ScriptedBroker();
    const { producer, timer } = await produce(broker, {
      batching: { messagesMax: 2, delayMaxMs: 10 },
    });
    await Promise.all([producer.send({ data: "1" }), producer.send({ data: "2" })]);
    await timer.advance(5);
    const third = producer.send({ data: "3" });
    await timer.advance(9);
    expect(broker.stored).toHaveLength(1);
    await timer.advance(1);
    await third;
  });

  test("is not larger than the broker accepts", async () => {
    const broker = new ScriptedBroker({
      connect: () => ({ kind: "connected", body: { serverVersion: "", maxMessageSize: 1_000 } }),
    });
    const { producer } = await produce(broker, { batching: true });
    const sends = Array.from({ length: 10 }, () => producer.send({ data: Buffer.alloc(400) }));
    await producer.flush();
    await Promise.all(sends);
    expect(broker.stored.map(({ messages }) => messages)).toEqual([2, 2, 2, 2, 2]);
  });

  test("of one message is sent without the batch format", async () => {
    const broker = new ScriptedBroker();
    const { producer, timer } = await produce(broker, { batching: true });
    const sent = producer.send({ data: "alone" });
    await timer.advance(1);
    expect((await sent).batchIndex).toBe(-1);
    expect(decodeMetadata(entryOf(broker, 0)).numMessagesInBatch).toBeUndefined();
  });

  test("is sent at once on flush", async () => {
    const broker = new ScriptedBroker();
    const batching = { delayMaxMs: 20_000 };
    const { producer } = await produce(broker, { batching });
    const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    await producer.flush();
    await Promise.all(sends);
    expect(broker.stored).toHaveLength(1);
  });

  test("that is still collecting when the pending messages fail is not sent", async () => {
    const broker = silent();
    const { producer, timer } = await produce(broker, { batching: { delayMaxMs: 20_000 } });
    const order: string[] = [];
    const send = (data: string): Promise<unknown> =>
      producer.send({ data }).catch(() => order.push(data));
    const first = send("1");
    await timer.advance(25_000);
    const gathered = send("2");
    await timer.advance(5_000);
    await Promise.all([first, gathered]);
    expect(order).toEqual(["1", "2"]);
    expect(broker.last.countOf("send")).toBe(1);
    expect(producer.pendingMessages).toBe(0);
  });

  test("is closed before a message with delayed delivery", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker, { batching: { delayMaxMs: 20_000 } });
    const first = producer.send({ data: "1" });
    await producer.send({ data: "2", deliverAtMs: 5 });
    await first;
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([0n, 1n]);
  });
});

test.each([
  [{ data: "", sequenceId: 5 }, "sequenceId"],
  [{ data: "", key: 5 }, "key"],
  [{ data: "", orderingKey: "a" }, "orderingKey"],
  [{ data: 5 }, "data"],
  ["hello", 'write send({ data: "hello" })'],
])("a message that cannot be right is refused and takes no room: %j", async (message, what) => {
  const { producer } = await produce(new ScriptedBroker());
  const error: unknown = await producer.send(message as never).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "CONFIG" });
  expect(String(error)).toContain(what);
  expect(producer.pendingMessages).toBe(0);
  await producer.send({ data: "good" });
});

describe("pending messages", () => {
  test("are bounded, and further sends wait in order", async () => {
    const broker = silent();
    const { producer } = await produce(broker, { pendingMessagesMax: 3 });
    const sends = Array.from({ length: 10 }, (_, index) => producer.send({ data: `${index}` }));
    await Promise.resolve();
    expect(producer.pendingMessages).toBe(3);
    broker.script.send = (command, session, entry) => broker.store(command, session, entry);
    broker.last.cut();
    const { timer } = opened[0] ?? {};
    await timer?.advance(1_000);
    await Promise.all(sends);
    expect(broker.stored.map(({ entry }) => splitEntry(entry).payload.toString())).toEqual(
      Array.from({ length: 10 }, (_, index) => `${index}`),
    );
  });

  test("are bounded in bytes", async () => {
    const { producer } = await produce(silent(), { pendingBytesMax: 10_000 });
    const sends = Array.from({ length: 5 }, () => producer.send({ data: Buffer.alloc(4_000) }));
    for (const send of sends) send.catch(() => undefined);
    await Promise.resolve();
    expect(producer.pendingMessages).toBe(2);
  });

  test("stay in the producer while the connection is not writable", async () => {
    const unreadBytesMax = 10_000;
    const broker = new ScriptedBroker({}, { unreadBytesMax });
    const { producer } = await produce(broker);
    const { link } = broker.last;
    link.pause();
    const sends = Array.from({ length: 100 }, () => producer.send({ data: Buffer.alloc(1_000) }));
    await Promise.resolve();
    // The one that fills it up goes beyond by less than itself.
    expect(link.unreadBytesPeak).toBeLessThan(unreadBytesMax + 1_200);
    link.resume();
    await Promise.all(sends);
    expect(broker.stored).toHaveLength(100);
  });

  test("of one producer do not keep another producer of the connection from writing", async () => {
    const broker = new ScriptedBroker({}, { unreadBytesMax: 2_000 });
    const { producer: busy, client } = await produce(broker);
    const modest = await client.createProducer({ topic: "modest" });
    const { link } = broker.last;
    link.pause();
    const sends = Array.from({ length: 100 }, () => busy.send({ data: Buffer.alloc(1_000) }));
    sends.push(modest.send({ data: "" }));
    link.resume();
    await Promise.all(sends);
    const place = broker.stored.findIndex(({ topic }) => topic.endsWith("/modest"));
    expect(place).toBeLessThan(10);
  });

  test("fail in order when the oldest is late, and the next message is sent", async () => {
    const broker = silent();
    const { producer, timer } = await produce(broker, { sendTimeoutMs: 5_000 });
    const failed: string[] = [];
    const note = (name: string) => (error: { code: string }) =>
      failed.push(`${name} ${error.code}`);
    producer.send({ data: "" }).catch(note("first"));
    await timer.advance(4_000);
    producer.send({ data: "" }).catch(note("second"));
    await timer.advance(999);
    expect(failed).toEqual([]);
    await timer.advance(1);
    expect(failed).toEqual(["first DEADLINE", "second DEADLINE"]);
    expect(producer.pendingMessages).toBe(0);
    broker.script.send = (command, session, entry) => broker.store(command, session, entry);
    await producer.send({ data: "" });
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([2n]);
  });

  test("fail at their own timeout, also if earlier ones were stored", async () => {
    const broker = new ScriptedBroker();
    const { producer, timer } = await produce(broker, { sendTimeoutMs: 5_000 });
    await producer.send({ data: "1" });
    await timer.advance(4_000);
    broker.script.send = () => undefined;
    let failedAtMs = 0;
    producer.send({ data: "2" }).catch(() => (failedAtMs = timer.now()));
    await timer.advance(60_000);
    expect(failedAtMs).toBe(9_000);
  });

  test("that wait for room fail at their own timeout and are not sent later", async () => {
    const broker = silent();
    const options = { sendTimeoutMs: 5_000, pendingMessagesMax: 1 };
    const { producer, timer } = await produce(broker, options);
    const failed: string[] = [];
    const send = (data: string): void =>
      void producer.send({ data }).catch(() => failed.push(`${data} ${timer.now()}`));
    send("a");
    send("b");
    await timer.advance(1_000);
    send("c");
    await timer.advance(60_000);
    expect(failed).toEqual(["a 5000", "b 5000", "c 6000"]);
    expect(broker.last.countOf("send")).toBe(2);
  });
});

describe("aborting a send", () => {
  test("before the call sends nothing", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker);
    const signal = AbortSignal.abort("no");
    await expect(producer.send({ data: "" }, { signal })).rejects.toBe("no");
    await producer.flush();
    expect(broker.stored).toEqual([]);
  });

  test("that waits for room withdraws it", async () => {
    const broker = silent();
    const { producer, timer } = await produce(broker, { pendingMessagesMax: 1 });
    const aborting = new AbortController();
    const sends = [
      producer.send({ data: "1" }),
      producer.send({ data: "2" }, { signal: aborting.signal }),
      producer.send({ data: "3" }),
    ];
    aborting.abort("no");
    await expect(sends[1]).rejects.toBe("no");
    broker.script.send = (command, session, entry) => broker.store(command, session, entry);
    broker.last.cut();
    await timer.advance(1_000);
    await sends[2];
    expect(broker.stored.map(({ entry }) => splitEntry(entry).payload.toString())).toEqual([
      "1",
      "3",
    ]);
  });

  test("that is written ends the wait only, and after the receipt does nothing", async () => {
    const broker = silent();
    const { producer } = await produce(broker);
    const aborting = new AbortController();
    const send = producer.send({ data: "1" }, { signal: aborting.signal });
    await Promise.resolve();
    aborting.abort("no");
    await expect(send).rejects.toBe("no");
    expect(producer.pendingMessages).toBe(1);
    const late = new AbortController();
    broker.script.send = (command, session, entry) => broker.store(command, session, entry);
    broker.last.cut();
    await opened[0]?.timer.advance(1_000);
    const id = await producer.send({ data: "2" }, { signal: late.signal });
    late.abort();
    expect(id.entryId).toBe(1n);
  });
});

describe("a refusal", () => {
  test("with NotAllowedError fails that message only", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker);
    broker.script.send = ({ body: { producerId, sequenceId } }) => {
      broker.script.send = (command, session, entry) => broker.store(command, session, entry);
      const error = SERVER_ERROR.NotAllowedError;
      return { kind: "sendError", body: { producerId, sequenceId, error, message: "no" } };
    };
    const [first, second] = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    await expect(first).rejects.toMatchObject({ code: "BROKER", serverError: "NotAllowedError" });
    await second;
    expect(broker.sessions).toHaveLength(1);
  });

  test.each(["ChecksumError", "PersistenceError"] as const)(
    "for a %s makes a new connection and sends it again",
    async (name) => {
      const broker = new ScriptedBroker();
      const { producer, timer, events } = await produce(broker);
      broker.script.send = ({ body: { producerId, sequenceId } }) => {
        broker.script.send = (command, session, entry) => broker.store(command, session, entry);
        const error = SERVER_ERROR[name];
        return { kind: "sendError", body: { producerId, sequenceId, error, message: "no" } };
      };
      const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
      await timer.advance(1_000);
      await Promise.all(sends);
      expect(broker.sessions).toHaveLength(2);
      expect(events.find(({ type }) => type === "resent")).toMatchObject({ messages: 2 });
    },
  );

  test("for a checksum that is wrong in this process fails that message only", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker);
    broker.script.send = ({ body: { producerId, sequenceId } }, _, entry) => {
      broker.script.send = (...all) => broker.store(...all);
      entry.writeUInt8(entry.readUInt8(entry.length - 1) ^ 1, entry.length - 1);
      const error = SERVER_ERROR.ChecksumError;
      return { kind: "sendError", body: { producerId, sequenceId, error, message: "no" } };
    };
    const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    await expect(sends[0]).rejects.toMatchObject({ serverError: "ChecksumError" });
    await sends[1];
    expect(broker.sessions).toHaveLength(1);
  });

  test("with TopicTerminatedError ends the producer", async () => {
    const { producer } = await produce(
      new ScriptedBroker({
        send: ({ body: { producerId, sequenceId } }) => ({
          kind: "sendError",
          body: { producerId, sequenceId, error: SERVER_ERROR.TopicTerminatedError, message: "" },
        }),
      }),
    );
    const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    for (const send of sends)
      await expect(send).rejects.toMatchObject({ serverError: "TopicTerminatedError" });
    await expect(producer.send({ data: "3" })).rejects.toMatchObject({ code: "BROKER" });
  });
});

describe("a receipt", () => {
  test("for an older message is ignored; one ahead closes the connection, and all messages are resent", async () => {
    const broker = new ScriptedBroker();
    const { producer, timer } = await produce(broker);
    await producer.send({ data: "0" });
    let isFirst = true;
    broker.script.send = (command, session, entry) => {
      if (!isFirst) return broker.store(command, session, entry);
      isFirst = false;
      const { producerId } = command.body;
      session.tell({ kind: "sendReceipt", body: { producerId, sequenceId: 0n } });
      session.tell({ kind: "sendReceipt", body: { producerId, sequenceId: 2n } });
      session.link.pause();
      return undefined;
    };
    const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    await timer.advance(1_000);
    await Promise.all(sends);
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([0n, 1n, 2n]);
    expect(broker.sessions).toHaveLength(2);
  });
});

describe("access modes", () => {
  test("wait for exclusive access without a deadline, and keep the topic epoch", async () => {
    let requestId = 0n;
    const broker = new ScriptedBroker();
    const ready = broker.script.producer;
    broker.script.producer = ({ body }) => {
      requestId = body.requestId;
      const producerReady = false;
      return { kind: "producerSuccess", body: { requestId, producerName: "p", producerReady } };
    };
    const { client, timer } = await start(broker);
    const opening = client.createProducer({ topic: "t", accessMode: "waitForExclusive" });
    await timer.advance(1_000_000);
    broker.last.cut();
    await timer.advance(1_000);
    expect(broker.sessions).toHaveLength(2);
    const body = { requestId, producerName: "p", producerReady: true, topicEpoch: 3n };
    broker.last.tell({ kind: "producerSuccess", body });
    await opening;
    if (ready !== undefined) broker.script.producer = ready;
    broker.last.cut();
    await timer.advance(1_000);
    const again = broker.last.heard.find(({ kind }) => kind === "producer");
    expect(again).toMatchObject({
      body: { topicEpoch: 3n, producerName: "p", userProvidedProducerName: false, epoch: 2n },
    });
  });

  test("end the producer when it is fenced", async () => {
    const broker = silent();
    const { producer, timer } = await produce(broker, { accessMode: "exclusive" });
    const send = producer.send({ data: "" });
    const failed = expect(send).rejects.toMatchObject({ serverError: "ProducerFenced" });
    broker.script.producer = ({ body: { requestId } }) => ({
      kind: "error",
      body: { requestId, error: SERVER_ERROR.ProducerFenced, message: "fenced" },
    });
    broker.last.cut();
    await timer.advance(1_000);
    await failed;
  });
});

describe("closing", () => {
  test("flushes and sends CLOSE_PRODUCER", async () => {
    const broker = new ScriptedBroker();
    const { producer } = await produce(broker, { batching: { delayMaxMs: 20_000 } });
    const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    await producer.close();
    await Promise.all(sends);
    expect(broker.last.heardKinds().slice(-2)).toEqual(["send", "closeProducer"]);
    await expect(producer.send({ data: "3" })).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("leaves no alarm behind", async () => {
    const { client, timer } = await start(new ScriptedBroker());
    const producer = await client.createProducer({ topic: "t", batching: true });
    const sent = producer.send({ data: "" });
    await client.close();
    await sent;
    expect(timer.sleeping).toBe(0);
  });

  test("gives up on a broker that does not answer", async () => {
    const broker = silent();
    const { producer, timer } = await produce(broker, { sendTimeoutMs: 0, pendingMessagesMax: 1 });
    const sends = [producer.send({ data: "1" }), producer.send({ data: "2" })];
    const failed = Promise.all(
      sends.map((send) => expect(send).rejects.toMatchObject({ code: "CLOSED" })),
    );
    const closing = producer.close();
    await timer.advance(30_000);
    await failed;
    await closing;
  });
});

describe("a partitioned topic", () => {
  test("gets messages without a key in round robin, and those of one key in one partition", async () => {
    const { broker, producer } = await partitioned();
    const ids = [];
    for (let index = 0; index < 6; index++) ids.push(await producer.send({ data: "" }));
    const inOrder = ids.map(({ partition }) => partition).toSorted((a, b) => a - b);
    expect(inOrder).toEqual([0, 0, 1, 1, 2, 2]);
    const keyed = [];
    for (let index = 0; index < 5; index++) keyed.push(await producer.send({ data: "", key: "a" }));
    // Java: "a".hashCode() is 97.
    expect(keyed.map(({ partition }) => partition)).toEqual([1, 1, 1, 1, 1]);
    expect(broker.stored.at(-1)?.topic).toBe(`${TOPIC}-partition-1`);
  });

  test("opens 20 partitions at a time", async () => {
    const broker = new ScriptedBroker({ producer: () => undefined });
    broker.partitions.set(TOPIC, 1_000);
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const { client, timer } = await start(broker);
    const opening = expect(client.createProducer({ topic: "orders" })).rejects.toMatchObject({
      code: "CLOSED",
    });
    await timer.advance(1_000);
    expect(broker.last.countOf("producer")).toBe(20);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
    await client.close();
    await opening;
  });

  test("gets whole batches in round robin", async () => {
    const { broker, producer } = await partitioned({ batching: { messagesMax: 4 } });
    await Promise.all(Array.from({ length: 12 }, () => producer.send({ data: "" })));
    expect(broker.stored.map(({ messages }) => messages)).toEqual([4, 4, 4]);
    expect(new Set(broker.stored.map(({ topic }) => topic)).size).toBe(3);
  });

  test("gets added partitions while the producer is in use", async () => {
    const { broker, producer, timer } = await partitioned({
      partitions: { route: (_, partitions) => partitions - 1 },
    });
    expect((await producer.send({ data: "" })).partition).toBe(2);
    broker.partitions.set(TOPIC, 5);
    await timer.advance(60_000);
    expect((await producer.send({ data: "" })).partition).toBe(4);
  });

  test("refuses a route to a partition that does not exist", async () => {
    const { producer } = await partitioned({ partitions: { route: () => 7 } });
    await expect(producer.send({ data: "" })).rejects.toMatchObject({ code: "CONFIG" });
  });

  test("is closed again if one partition cannot be opened", async () => {
    const broker = new ScriptedBroker();
    broker.partitions.set(TOPIC, 3);
    const accept = broker.script.producer;
    broker.script.producer = (command, session, entry) => {
      const { requestId, topic } = command.body;
      if (!topic.endsWith("-1")) return accept?.(command, session, entry);
      const error = SERVER_ERROR.AuthorizationError;
      return { kind: "error", body: { requestId, error, message: "no" } };
    };
    const { client } = await start(broker);
    await expect(client.createProducer({ topic: "orders" })).rejects.toMatchObject({
      serverError: "AuthorizationError",
    });
    expect(broker.last.countOf("closeProducer")).toBe(2);
  });
});
