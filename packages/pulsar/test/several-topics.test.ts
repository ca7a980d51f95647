import { describe, expect, test } from "vitest";
import { MessageId } from "../src/client/message/message-id.ts";
import { consumingClient, receiveAll, textOf, TOPIC } from "./virtual-consumer.ts";

const part = (index: number): string => `${TOPIC}-partition-${index}`;
const full = (name: string): string => `persistent://public/default/${name}`;

describe("a partitioned topic", () => {
  test("is consumed as one, in round robin over its partitions", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    broker.partitions.set(TOPIC, 3);
    const consumer = await subscribe();
    topics.publish(part(0), ["a0", "a1", "a2"]);
    topics.publish(part(2), ["c0", "c1"]);
    await timer.advance(0);
    const messages = await receiveAll(consumer, timer);
    expect(messages.map(textOf)).toEqual(["a0", "c0", "a1", "c1", "a2"]);
    expect(messages.map(({ messageId }) => messageId.partition)).toEqual([0, 2, 0, 2, 0]);
  });

  test("takes acknowledgements for the right partition, by message and by id", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    broker.partitions.set(TOPIC, 2);
    const consumer = await subscribe();
    topics.publish(part(0), "a");
    topics.publish(part(1), "b");
    const [a, b] = await receiveAll(consumer, timer);
    await consumer.ack(a ?? expect.unreachable());
    await consumer.ack((b ?? expect.unreachable()).messageId);
    await timer.advance(50);
    const backlogs = [0, 1].map((index) => topics.subscription(part(index), "shop").backlog);
    expect(backlogs).toEqual([0, 0]);
  });

  test("gets added partitions, from their first message", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    broker.partitions.set(TOPIC, 1);
    const consumer = await subscribe({ topicsRefreshMs: 1_000 });
    broker.partitions.set(TOPIC, 2);
    topics.publish(part(1), "early");
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["early"]);
  });

  test("that is paused gives no permits to an added partition either", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    broker.partitions.set(TOPIC, 1);
    const consumer = await subscribe({ topicsRefreshMs: 1_000 });
    consumer.pause();
    broker.partitions.set(TOPIC, 2);
    topics.publish(part(1), "a");
    await timer.advance(1_000);
    expect(consumer.topics).toHaveLength(2);
    expect(await receiveAll(consumer, timer)).toEqual([]);
    consumer.resume();
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["a"]);
  });

  test("divides receiverQueueTotal among its partitions", async () => {
    const { broker, subscribe, heard } = await consumingClient();
    broker.partitions.set(TOPIC, 4);
    await subscribe({ receiverQueueTotal: 10 });
    await Promise.resolve();
    expect(heard("flow").map(({ messagePermits }) => messagePermits)).toEqual([2, 2, 2, 2]);
  });

  test("has a last message id per partition", async () => {
    const { broker, topics, subscribe } = await consumingClient();
    broker.partitions.set(TOPIC, 2);
    const consumer = await subscribe();
    topics.publish(part(1), "a");
    const last = await consumer.getLastMessageId({ topic: part(1) });
    expect(last.toString()).toBe("3:0:1");
    await expect(consumer.getLastMessageId()).rejects.toMatchObject({ code: "CONFIG" });
  });

  test("seeks in all partitions", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    broker.partitions.set(TOPIC, 2);
    const consumer = await subscribe();
    for (const index of [0, 1]) topics.publish(part(index), `${index}`);
    await receiveAll(consumer, timer);
    await consumer.seek(MessageId.earliest);
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf).toSorted()).toEqual(["0", "1"]);
  });
});

describe("topics by name", () => {
  test("are consumed together, and an id alone does not say which topic it is of", async () => {
    const { topics, subscribe } = await consumingClient();
    const consumer = await subscribe({ topics: ["one", "other", "one"] });
    expect(consumer.topics.toSorted()).toEqual([full("one"), full("other")]);
    topics.publish(full("other"), "a");
    const message = await consumer.receive();
    expect(message.topic).toBe(full("other"));
    await expect(consumer.ack(message.messageId)).rejects.toMatchObject({ code: "CONFIG" });
    await consumer.ack(message);
  });

  test("are all closed if one cannot be subscribed", async () => {
    const { broker, client, timer, subscribe } = await consumingClient();
    const { subscribe: agree } = broker.script;
    broker.script.subscribe = (command, session, entry) =>
      command.body.topic === full("other")
        ? {
            kind: "error",
            body: { requestId: command.body.requestId, error: 4, message: "not yours" },
          }
        : agree?.(command, session, entry);
    await expect(subscribe({ topics: ["one", "other"] })).rejects.toMatchObject({
      serverError: "AuthorizationError",
    });
    expect(broker.last.countOf("closeConsumer")).toBe(1);
    await client.close();
    expect(timer.sleeping).toBe(0);
  });
});

describe("topics by pattern", () => {
  test("are subscribed when created and dropped when deleted", async () => {
    const { topics, timer, client, subscribe } = await consumingClient();
    topics.publish(full("order-1"), "old");
    topics.publish(full("other"), "not ours");
    topics.publish(full("__order-log"), "not for anybody");
    const consumer = await subscribe({ topicsPattern: /order-/g, topicsRefreshMs: 1_000 });
    expect(consumer.topics).toEqual([full("order-1")]);
    topics.publish(full("order-2"), "new");
    await timer.advance(1_000);
    expect((await receiveAll(consumer, timer)).map(textOf)).toEqual(["new"]);
    topics.delete(full("order-1"));
    await timer.advance(1_000);
    expect(consumer.topics).toEqual([full("order-2")]);
    await client.close();
    expect(timer.sleeping).toBe(0);
  });

  test("may be none at first, and a failed refresh is retried", async () => {
    const { broker, topics, timer, subscribe } = await consumingClient();
    const consumer = await subscribe({ topicsPattern: /order/, topicsRefreshMs: 1_000 });
    const received = consumer.receive();
    const { getTopicsOfNamespace: look } = broker.script;
    broker.script.getTopicsOfNamespace = ({ body: { requestId } }) => ({
      kind: "error",
      body: { requestId, error: 6, message: "not now" },
    });
    topics.publish(TOPIC, "a");
    await timer.advance(1_000);
    expect(consumer.topics).toEqual([]);
    Object.assign(broker.script, { getTopicsOfNamespace: look });
    await timer.advance(1_000);
    expect(textOf(await received)).toBe("a");
  });
});

test("a broker that lists more than 10,000 topics is refused", async () => {
  const { client } = await consumingClient({
    getTopicsOfNamespace: ({ body: { requestId } }) => {
      const topics = Array.from({ length: 10_001 }, (_, index) => full(`t${index}`));
      return { kind: "getTopicsOfNamespaceResponse", body: { requestId, topics } };
    },
  });
  const subscribing = client.subscribe({ topicsPattern: /t/, subscription: "shop" });
  await expect(subscribing).rejects.toMatchObject({ code: "CONFIG" });
});
