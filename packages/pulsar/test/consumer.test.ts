import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../src/client/consumer/receive/message.ts";
import { UnreadableMessageError } from "../src/client/consumer/receive/unreadable-message-error.ts";
import { MessageId } from "../src/client/message/message-id.ts";
import type { Command, CommandOf } from "../src/wire/command.ts";
import { SERVER_ERROR } from "../src/wire/constants.ts";
import { encodeEntry } from "../src/wire/entry.ts";
import { consumingClient, receiveAll, textOf, TOPIC } from "./virtual-consumer.ts";

const METADATA = { producerName: "p", sequenceId: 0n, publishTime: 1_000n };

test("messages come in order, and acknowledged ones are not redelivered", async () => {
  const { broker, topics, client, timer, subscribe } = await consumingClient();
  const consumer = await subscribe();
  topics.publish(TOPIC, "a");
  topics.publish(TOPIC, ["b", "c"]);
  const messages = await receiveAll(consumer, timer);
  expect(messages.map(textOf)).toEqual(["a", "b", "c"]);
  for (const message of messages) await consumer.ack(message);
  expect(topics.subscription(TOPIC, "shop").backlog).toBe(3);
  await timer.advance(50);
  expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
  await client.close();
  expect(timer.sleeping).toBe(0);
  expect(broker.open).toEqual([]);
});

describe("a loop over a consumer", () => {
  test("ends when the consumer is closed, which sends the queued acknowledgements", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe();
    const seen: string[] = [];
    const loop = (async () => {
      for await (const message of consumer) {
        seen.push(textOf(message));
        await consumer.ack(message);
      }
    })();
    topics.publish(TOPIC, ["a", "b"]);
    await timer.advance(0);
    await consumer.close();
    await loop;
    expect(seen).toEqual(["a", "b"]);
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
    await expect(consumer.receive()).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("can be left, and the next loop goes on", async () => {
    const { topics, subscribe } = await consumingClient();
    const consumer = await subscribe();
    topics.publish(TOPIC, ["a", "b"]);
    for await (const message of consumer) if (textOf(message) === "a") break;
    for await (const message of consumer) {
      expect(textOf(message)).toBe("b");
      break;
    }
  });

  test("loses no message when it is left while it waits", async () => {
    const { topics, subscribe } = await consumingClient();
    const consumer = await subscribe();
    const iterator = consumer[Symbol.asyncIterator]();
    const next = iterator.next();
    await iterator.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    topics.publish(TOPIC, "a");
    expect(textOf(await consumer.receive())).toBe("a");
  });
});

test("messages that are not taken are not asked for", async () => {
  const { topics, timer, subscribe, heard } = await consumingClient();
  const consumer = await subscribe({ receiverQueueSize: 10 });
  for (let count = 0; count < 100; count++) topics.publish(TOPIC, ["a", "b", "c"]);
  await timer.advance(60_000);
  expect(heard("flow").map(({ messagePermits }) => messagePermits)).toEqual([10]);
  for (let count = 0; count < 4; count++) await consumer.receive();
  expect(heard("flow")).toHaveLength(1);
  await consumer.receive();
  await timer.advance(0);
  expect(heard("flow").map(({ messagePermits }) => messagePermits)).toEqual([10, 5]);
});

test("a paused consumer gives no permits, and the missed ones when it resumes", async () => {
  const { topics, timer, subscribe } = await consumingClient();
  const consumer = await subscribe({ receiverQueueSize: 2 });
  consumer.pause();
  for (const text of ["a", "b", "c", "d"]) topics.publish(TOPIC, text);
  expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["a", "b"]);
  consumer.resume();
  expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["c", "d"]);
});

describe("after a lost connection", () => {
  test("messages of the old connection are not handed out after the new SUBSCRIBE", async () => {
    const { broker, topics, timer, subscribe, heard } = await consumingClient();
    const consumer = await subscribe();
    for (const text of ["a", "b"]) topics.publish(TOPIC, text);
    expect(textOf(await consumer.receive())).toBe("a");
    const { subscribe: agree } = broker.script;
    Object.assign(broker.script, { subscribe: undefined });
    broker.last.cut();
    await timer.advance(1_000);
    expect(heard("subscribe")).toHaveLength(2);
    expect(await receiveAll(consumer, timer)).toEqual([]);
    Object.assign(broker.script, { subscribe: agree });
    broker.last.cut();
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["a", "b"]);
  });

  test("a topic that is deleted ends the consumer", async () => {
    const { broker, timer, client, subscribe } = await consumingClient();
    const consumer = await subscribe();
    const received = consumer.receive();
    Object.assign(broker.script, {
      subscribe: ({ body: { requestId } }: CommandOf<"subscribe">): Command => ({
        kind: "error",
        body: { requestId, error: SERVER_ERROR.TopicNotFound, message: "it was deleted" },
      }),
    });
    broker.last.cut();
    const [result] = await Promise.allSettled([received, timer.advance(1_000)]);
    expect(result).toMatchObject({ reason: { serverError: "TopicNotFound" } });
    await expect(consumer.receive()).rejects.toMatchObject({ serverError: "TopicNotFound" });
    expect(consumer.topics).toEqual([]);
    await client.close();
    expect(timer.sleeping).toBe(0);
  });

  test("unacknowledged messages are redelivered, and those acknowledged meanwhile are not", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe();
    for (const text of ["a", "b", "c"]) topics.publish(TOPIC, text);
    const [a, b] = await receiveAll(consumer, timer);
    await consumer.ack(a ?? expect.unreachable());
    await timer.advance(50);
    broker.last.cut();
    await timer.advance(0);
    await consumer.ack(b ?? expect.unreachable());
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["c"]);
  });

  test("a reader goes on behind the last taken message", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    const startMessageId = MessageId.earliest;
    topics.publish(TOPIC, ["a", "b", "c"]);
    topics.publish(TOPIC, "d");
    const consumer = await subscribe({ durable: false, startMessageId });
    expect(textOf(await consumer.receive())).toBe("a");
    expect(textOf(await consumer.receive())).toBe("b");
    broker.last.cut();
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["c", "d"]);
  });

  test("acknowledgements without a receipt are sent again", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ ackReceipt: true });
    topics.publish(TOPIC, "a");
    const message = await consumer.receive();
    const acked = consumer.ack(message);
    broker.last.cut();
    await timer.advance(1_000);
    await acked;
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
  });
});

test("no message is lost, and none comes twice except after a lost connection", async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ publish: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 4, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 3, arbitrary: fc.record({ ackEvery: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ passMs: fc.nat(200) }) },
    { weight: 1, arbitrary: fc.constant({ isCut: true }) },
  );
  const options = fc.record({
    receiverQueueSize: fc.integer({ min: 1, max: 20 }),
    batchIndexAck: fc.boolean(),
    type: fc.constantFrom("exclusive" as const, "shared" as const),
  });
  await fc.assert(
    fc.asyncProperty(options, fc.array(step, { maxLength: 40 }), async (chosen, steps) => {
      const { broker, topics, client, timer, subscribe } = await consumingClient();
      const consumer = await subscribe(chosen);
      const seen = new Set<string>();
      const held: Message[] = [];
      let sinceAttached = new Set<string>();
      let published = 0;
      const note = (message: Message): void => {
        const text = textOf(message);
        expect(sinceAttached.has(text)).toBe(false);
        sinceAttached.add(text);
        seen.add(text);
        held.push(message);
      };
      const take = async (count: number): Promise<void> => {
        for (let left = count; left > 0; left--) {
          const giveUp = new AbortController();
          const next = consumer.receive({ signal: giveUp.signal }).then(note, () => undefined);
          await timer.advance(0);
          giveUp.abort();
          await next;
        }
      };
      for (const each of steps) {
        if ("publish" in each)
          topics.publish(
            TOPIC,
            Array.from({ length: each.publish }, () => `${published++}`),
          );
        else if ("take" in each) await take(each.take);
        else if ("passMs" in each) await timer.advance(each.passMs);
        else if ("ackEvery" in each) {
          const some = held.splice(0).filter((_, index) => index % each.ackEvery === 0);
          for (const message of some) await consumer.ack(message);
        } else {
          broker.open.at(-1)?.cut();
          await timer.advance(10_000);
          sinceAttached = new Set();
        }
      }
      broker.open.at(-1)?.cut();
      await timer.advance(10_000);
      sinceAttached = new Set();
      for (const message of await receiveAll(consumer, timer)) note(message);
      expect(seen.size).toBe(published);
      for (const message of held) await consumer.ack(message);
      await client.close();
      expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 60 },
  );
});

describe("nack", () => {
  test("redelivers a message after the delay, unless it is acknowledged before", async () => {
    const { topics, timer, subscribe, heard } = await consumingClient();
    const consumer = await subscribe({ type: "shared", nackRedeliveryDelayMs: 1_000 });
    for (const text of ["a", "b", "c"]) topics.publish(TOPIC, text);
    const [a, b, c] = await receiveAll(consumer, timer);
    for (const message of [a, b, c]) consumer.nack(message ?? expect.unreachable());
    await consumer.ack(b ?? expect.unreachable());
    await timer.advance(999);
    expect(await receiveAll(consumer, timer)).toEqual([]);
    await timer.advance(1);
    const again = await receiveAll(consumer, timer);
    expect(again.map(textOf)).toEqual(["a", "c"]);
    expect(again[0]?.redeliveryCount).toBe(1);
    const [asked, ...more] = heard("redeliverUnacknowledged");
    expect(asked?.messageIds?.map(({ entryId }) => entryId)).toEqual([0n, 2n]);
    expect(more).toEqual([]);
  });

  test("is dropped when the consumer is closed", async () => {
    const { topics, timer, client, subscribe } = await consumingClient();
    const consumer = await subscribe({ ackTimeoutMs: 5_000 });
    topics.publish(TOPIC, "a");
    consumer.nack(await consumer.receive());
    await client.close();
    expect(timer.sleeping).toBe(0);
  });

  test("redelivers everything unacknowledged on an exclusive subscription", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ nackRedeliveryDelayMs: 1_000, receiverQueueSize: 3 });
    for (const text of ["a", "b", "c", "d"]) topics.publish(TOPIC, text);
    const a = await consumer.receive();
    await consumer.ack(a);
    const b = await consumer.receive();
    consumer.nack(b);
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b", "c", "d"]);
  });

  test("happens by itself after ackTimeoutMs", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ type: "shared", ackTimeoutMs: 2_000 });
    for (const text of ["a", "b"]) topics.publish(TOPIC, text);
    const [a] = await receiveAll(consumer, timer);
    await consumer.ack(a ?? expect.unreachable());
    await timer.advance(1_999);
    expect(await receiveAll(consumer, timer)).toEqual([]);
    await timer.advance(1);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b"]);
  });

  test("of everything redelivers each message once, also those not yet received", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ type: "shared", receiverQueueSize: 2 });
    for (const text of ["a", "b", "c", "d", "e"]) topics.publish(TOPIC, text);
    expect(textOf(await consumer.receive())).toBe("a");
    await timer.advance(0);
    consumer.redeliverUnacknowledged();
    const again = (await receiveAll(consumer, timer)).map(textOf);
    expect(again).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("of everything drops messages of the earlier epoch that are still on their way", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe();
    topics.publish(TOPIC, "a");
    await timer.advance(0);
    topics.publish(TOPIC, "b");
    consumer.redeliverUnacknowledged();
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["a", "b"]);
  });
});

/** A consumer that has received four messages. */
const published = async (startInclusive: boolean) => {
  const world = await consumingClient();
  const consumer = await world.subscribe({ startInclusive });
  world.topics.publish(TOPIC, "a");
  world.topics.publish(TOPIC, ["b", "c"], { publishTime: 2_000n });
  world.topics.publish(TOPIC, "d", { publishTime: 3_000n });
  const messages = await receiveAll(consumer, world.timer);
  const at = (index: number): Message => messages[index] ?? expect.unreachable();
  return { ...world, consumer, at };
};

describe("seeking", () => {
  test.each([
    { startInclusive: false, index: 0, expected: ["b", "c", "d"] },
    { startInclusive: true, index: 0, expected: ["a", "b", "c", "d"] },
    { startInclusive: false, index: 1, expected: ["c", "d"] },
    { startInclusive: true, index: 2, expected: ["c", "d"] },
  ])("goes on at message $index: $expected", async ({ startInclusive, index, expected }) => {
    const { topics, timer, consumer, at, heard } = await published(startInclusive);
    await consumer.seek(at(index));
    await timer.advance(1_000);
    // The subscription knows; a position in SUBSCRIBE is for those that are not durable.
    expect(heard("subscribe").map(({ startMessageId }) => startMessageId)).toEqual([
      undefined,
      undefined,
    ]);
    const messages = await receiveAll(consumer, timer);
    expect(messages.map(textOf)).toEqual(expected);
    for (const message of messages) await consumer.ack(message);
    await timer.advance(100);
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
  });

  test("to a time starts at the first message published then or later", async () => {
    const { timer, consumer } = await published(false);
    await consumer.seek(2_000);
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b", "c", "d"]);
  });

  test("drops messages that were sent before it", async () => {
    const { topics, timer, consumer } = await published(false);
    topics.publish(TOPIC, "e");
    await timer.advance(0);
    topics.publish(TOPIC, "f");
    const sought = consumer.seek(MessageId.latest);
    expect(await receiveAll(consumer, timer)).toEqual([]);
    await sought;
    await timer.advance(1_000);
    topics.publish(TOPIC, "g");
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["g"]);
  });

  test("does not wait for its answer after CLOSE_CONSUMER", async () => {
    const { broker, timer, consumer, at } = await published(false);
    const { seek: move } = broker.script;
    const held: Command[] = [];
    broker.script.seek = (command, session, entry) => {
      held.push(move?.(command, session, entry) ?? expect.unreachable());
      return undefined;
    };
    const sought = consumer.seek(at(0));
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b", "c", "d"]);
    for (const answer of held) broker.last.tell(answer);
    await sought;
  });

  test("leaves no trace when another consumer moves the subscription later", async () => {
    const { topics, timer, consumer, at } = await published(false);
    await consumer.seek(at(0));
    await timer.advance(1_000);
    await receiveAll(consumer, timer);
    await timer.advance(100);
    topics.rewind(TOPIC, "shop");
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["a", "b", "c", "d"]);
  });

  test("several times ends at the last target", async () => {
    const { topics, broker, timer, consumer } = await published(false);
    // A broker that keeps its consumer, and sends from each place that it is told of.
    const asked: bigint[] = [];
    broker.script.seek = ({ body: { requestId } }) => {
      asked.push(requestId);
      return undefined;
    };
    const [first, second] = [consumer.seek(MessageId.earliest), consumer.seek(MessageId.latest)];
    await timer.advance(0);
    const [one = 0n, other = 0n] = asked;
    broker.last.tell({ kind: "success", body: { requestId: one } });
    await first;
    topics.publish(TOPIC, "from where the first one led");
    await timer.advance(0);
    broker.last.tell({ kind: "success", body: { requestId: other } });
    await second;
    topics.publish(TOPIC, "e");
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["e"]);
  });

  test("aborted before it begins changes nothing", async () => {
    const { topics, timer, consumer } = await published(false);
    topics.publish(TOPIC, "e");
    await timer.advance(0);
    await expect(consumer.seek(0, { signal: AbortSignal.abort("no") })).rejects.toBe("no");
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["e"]);
    await expect(consumer.seek(NaN)).rejects.toMatchObject({ code: "CONFIG" });
  });

  test("refused by the broker changes nothing", async () => {
    const { topics, timer, subscribe } = await consumingClient({
      seek: ({ body: { requestId } }) => ({
        kind: "error",
        body: { requestId, error: 22, message: "not here" },
      }),
    });
    const consumer = await subscribe();
    topics.publish(TOPIC, "a");
    const a = await consumer.receive();
    topics.publish(TOPIC, "b");
    await expect(consumer.seek(a)).rejects.toMatchObject({ code: "BROKER" });
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["a", "b"]);
  });
});

describe("a corrupt entry", () => {
  test("is acknowledged with a validation error, told as an event, and the next message follows", async () => {
    const { topics, timer, events, subscribe, heard } = await consumingClient();
    const consumer = await subscribe({ receiverQueueSize: 2 });
    const bytes = encodeEntry(METADATA, Buffer.from("a"));
    bytes[bytes.length - 1] = 0;
    for (let count = 0; count < 5; count++) topics.store(TOPIC, bytes, 1);
    topics.publish(TOPIC, "b");
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b"]);
    expect(heard("ack").map(({ validationError }) => validationError)).toEqual([2, 2, 2, 2, 2]);
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(1);
    const discarded = events.filter((event) => event.type === "discarded");
    expect(discarded.map(({ messageId }) => messageId.entryId)).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect(discarded[0]).toMatchObject({ topic: TOPIC, reason: { code: "PROTOCOL" } });
  });

  test("may be found out only when its batch is decoded", async () => {
    const { topics, timer, events, subscribe, heard } = await consumingClient();
    const consumer = await subscribe({ receiverQueueSize: 1 });
    const metadata = { ...METADATA, numMessagesInBatch: 1 };
    topics.store(TOPIC, encodeEntry(metadata, Buffer.from("not a batch")), 1);
    topics.publish(TOPIC, "b");
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b"]);
    expect(heard("ack")[0]).toMatchObject({ validationError: 3 });
    expect(events.filter(({ type }) => type === "discarded")).toHaveLength(1);
  });

  test("returns the permits that the broker counted for it", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ receiverQueueSize: 10 });
    const bytes = encodeEntry({ ...METADATA, numMessagesInBatch: 10 }, Buffer.alloc(100));
    bytes[bytes.length - 1] = 1;
    topics.store(TOPIC, bytes, 10);
    topics.publish(TOPIC, "b");
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["b"]);
  });
});

test.each([
  ["is encrypted", { encryptionKeys: [{ key: "k", value: Buffer.from("v") }] }],
  ["cannot be uncompressed", { compression: 2, uncompressedSize: 9 }],
])("a message that %s is told, and can be acknowledged by what was told", async (why, metadata) => {
  const { topics, timer, subscribe } = await consumingClient();
  const consumer = await subscribe();
  topics.publish(TOPIC, "secret", metadata);
  topics.publish(TOPIC, "b");
  const told: unknown = await consumer.receive().catch((error: unknown) => error);
  if (!(told instanceof UnreadableMessageError)) expect.unreachable();
  expect(told.message).toContain(why);
  expect(textOf(await consumer.receive())).toBe("b");
  await consumer.ack(told);
  await timer.advance(50);
  expect(topics.subscription(TOPIC, "shop").backlog).toBe(1);
});

test("a chunked message above messageBytesMax is one UnreadableMessageError, and acknowledged whole", async () => {
  const { topics, timer, subscribe } = await consumingClient();
  const consumer = await subscribe({ receiverQueueSize: 1, messageBytesMax: 4 });
  for (const [chunkId, text] of ["ab", "cd", "e"].entries())
    topics.publish(TOPIC, text, { uuid: "u", chunkId, numChunksFromMsg: 3, totalChunkMsgSize: 5 });
  topics.publish(TOPIC, "b");
  const told: unknown = await consumer.receive().catch((error: unknown) => error);
  if (!(told instanceof UnreadableMessageError)) expect.unreachable();
  expect(textOf(await consumer.receive())).toBe("b");
  await consumer.ack(told);
  await timer.advance(50);
  expect(topics.subscription(TOPIC, "shop").backlog).toBe(1);
});

test("a chunked message is received and acknowledged as a whole", async () => {
  const { topics, timer, subscribe } = await consumingClient();
  const consumer = await subscribe({ receiverQueueSize: 1 });
  for (const [chunkId, text] of ["ab", "cd", "e"].entries())
    topics.publish(TOPIC, text, { uuid: "u", chunkId, numChunksFromMsg: 3, totalChunkMsgSize: 5 });
  const message = await consumer.receive();
  expect(textOf(message)).toBe("abcde");
  await consumer.ack(message);
  await timer.advance(50);
  expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
});

describe("acknowledging", () => {
  test("a message again reaches a broker that has lost the first acknowledgement", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe();
    for (const text of ["a", "b", "c"]) topics.publish(TOPIC, text);
    const { ack: note } = broker.script;
    broker.script.ack = () => undefined;
    const before = await receiveAll(consumer, timer);
    await consumer.ackCumulative(before[2] ?? expect.unreachable());
    await timer.advance(50);
    if (note !== undefined) broker.script.ack = note;
    broker.last.cut();
    await timer.advance(1_000);
    const again = await receiveAll(consumer, timer);
    await consumer.ackCumulative(again[1] ?? expect.unreachable());
    await timer.advance(50);
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(1);
  });

  test("waits for its receipt beyond a lost connection", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ ackReceipt: true });
    topics.publish(TOPIC, "a");
    const message = await consumer.receive();
    const { ack: note } = broker.script;
    broker.script.ack = (_, session) => {
      if (note !== undefined) broker.script.ack = note;
      // No frame is so short.
      session.link.deliver(Buffer.from([0, 0, 0, 1, 0]));
      return undefined;
    };
    const acknowledged = consumer.ack(message);
    await timer.advance(1_000);
    await acknowledged;
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(0);
  });

  test("cumulatively covers all earlier messages", async () => {
    const { topics, timer, subscribe, heard } = await consumingClient();
    const consumer = await subscribe({ batchIndexAck: true });
    for (const text of ["a", "b"]) topics.publish(TOPIC, text);
    topics.publish(TOPIC, ["c", "d", "e"]);
    const messages = await receiveAll(consumer, timer);
    await consumer.ackCumulative(messages[3] ?? expect.unreachable());
    await timer.advance(50);
    expect(topics.subscription(TOPIC, "shop").backlog).toBe(1);
    expect(heard("ack")).toHaveLength(1);
  });

  test.each([
    ["cumulatively where others consume, too", { type: "shared" as const }],
    ["an id within a batch that the broker takes as a whole", {}],
  ])("refuses %s", async (_, options) => {
    const { topics, subscribe } = await consumingClient();
    const consumer = await subscribe(options);
    topics.publish(TOPIC, ["a", "b"]);
    const { messageId } = await consumer.receive();
    const acked = "type" in options ? consumer.ackCumulative(messageId) : consumer.ack(messageId);
    await expect(acked).rejects.toMatchObject({ code: "CONFIG" });
  });

  test("by id reaches one message of a batch", async () => {
    const { topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ type: "shared", batchIndexAck: true });
    topics.publish(TOPIC, ["a", "b", "c"]);
    const [, b] = await receiveAll(consumer, timer);
    const bytes = (b ?? expect.unreachable()).messageId.serialize();
    await consumer.ack(MessageId.deserialize(bytes));
    await timer.advance(50);
    const { progress } = topics.subscription(TOPIC, "shop");
    expect(progress[0]?.unacked.toAckSet()).toEqual([5n]);
  });
});

test("two consumers of a shared subscription get each message once", async () => {
  const { topics, timer, subscribe } = await consumingClient();
  const options = { type: "shared" as const, receiverQueueSize: 3 };
  const [one, other] = [await subscribe(options), await subscribe(options)];
  for (let count = 0; count < 50; count++) topics.publish(TOPIC, `${count}`);
  const counts = new Map<string, number>();
  for (let round = 0; round < 20; round++)
    for (const consumer of [one, other])
      for (const message of await receiveAll(consumer, timer))
        counts.set(textOf(message), (counts.get(textOf(message)) ?? 0) + 1);
  expect(counts.size).toBe(50);
  expect([...counts.values()].every((count) => count === 1)).toBe(true);
});

test("isActive and hasReachedEnd follow the broker", async () => {
  const { broker, timer, subscribe } = await consumingClient();
  const consumer = await subscribe({ type: "failover" });
  expect([consumer.isActive, consumer.hasReachedEnd]).toEqual([false, false]);
  const body = { consumerId: 1n, isActive: true };
  broker.last.tell({ kind: "activeConsumerChange", body });
  broker.last.tell({ kind: "reachedEndOfTopic", body: { consumerId: 1n } });
  await timer.advance(0);
  expect([consumer.isActive, consumer.hasReachedEnd]).toEqual([true, true]);
});

test("getLastMessageId needs no message to be received", async () => {
  const { topics, subscribe } = await consumingClient();
  const consumer = await subscribe();
  topics.publish(TOPIC, "a");
  topics.publish(TOPIC, ["b", "c"]);
  expect((await consumer.getLastMessageId()).toString()).toBe("3:1:-1:1");
});

test("unsubscribe deletes the subscription and closes the consumer", async () => {
  const { topics, timer, client, subscribe } = await consumingClient();
  const consumer = await subscribe();
  await consumer.unsubscribe();
  expect(() => topics.subscription(TOPIC, "shop")).toThrow("not subscribed");
  await expect(consumer.receive()).rejects.toMatchObject({ code: "CLOSED" });
  await client.close();
  expect(timer.sleeping).toBe(0);
});

describe("subscribing", () => {
  test("is refused while another consumer has the exclusive subscription", async () => {
    const { subscribe } = await consumingClient();
    await subscribe();
    await expect(subscribe()).rejects.toMatchObject({ serverError: "ConsumerBusy" });
  });

  test("can be aborted, and leaves nothing", async () => {
    const { client, timer } = await consumingClient({ subscribe: () => undefined });
    const giveUp = new AbortController();
    const options = { topic: "orders", subscription: "shop" };
    const subscribed = client.subscribe(options, giveUp.signal);
    await timer.advance(0);
    giveUp.abort(new Error("no time"));
    await expect(subscribed).rejects.toThrow("no time");
    await client.close();
    expect(timer.sleeping).toBe(0);
  });
});
