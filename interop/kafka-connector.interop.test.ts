/** Topics of a real Kafka broker as source and sink of a pipeline. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemTimer } from "@sluice/core/system";
import type { Message, Sink, Source } from "@sluice/pipeline";
import { kafkaSink, kafkaSource } from "@sluice/pipeline/kafka";
import type { KafkaSourceOptions } from "@sluice/pipeline/kafka";
import {
  messagesOf,
  neverAborted,
  readOnce,
  testContext,
  textsOf,
  untilResolved,
} from "../packages/pipeline/test/connector-context.ts";
import type { TestContext } from "../packages/pipeline/test/connector-context.ts";
import { sinkContract } from "../packages/pipeline/test/sink-contract.ts";
import { sourceContract } from "../packages/pipeline/test/source-contract.ts";
import { serverProgram, untilFound } from "./programs/found.ts";
import { KafkaServer } from "./servers/kafka-server.ts";

await untilFound(["kafka"]);
const program = serverProgram("kafka");
const SKIPPED = "missing" in program ? ` (skipped: ${program.missing})` : "";

const GROUP = "billing";
/** How long a test waits for messages; only a failing one takes this long. */
const PATIENCE_MS = 60_000;
const opened: { close(): Promise<void> }[] = [];
let server: KafkaServer;
let topic = "";
let topics = 0;

describe.skipIf(SKIPPED !== "")(`a topic of Kafka${SKIPPED}`, () => {
  beforeAll(async () => {
    server = await KafkaServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    topic = `orders-${++topics}`;
    await server.createTopic(topic, 2);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  test("carries value, key, headers and time from a sink to a source", async () => {
    const sink = await openSink();
    const message = {
      id: "m1",
      value: { total: 5 },
      key: "customer-7",
      headers: { traceparent: "00-1" },
      eventTimeMs: 1_700_000_000_000,
    };
    expect(await sink.write([message], { signal: neverAborted })).toEqual([undefined]);
    const [read] = await readSoon(await openSource(), 1);
    expect(read?.id).toMatch(/^orders-\d+\/\d\/0$/);
    expect({ ...read, id: "m1" }).toEqual({ ...message, value: Buffer.from('{"total":5}') });
  });

  test("answers no more messages than it may, and nothing after the wait", async () => {
    await add(1, 2, 3);
    const source = await openSource();
    const first = await readSoon(source, 2, 2);
    const rest = await readSoon(source, 1, 2);
    expect(textsOf([...first, ...rest]).toSorted()).toEqual(["1", "2", "3"]);
    expect(await readOnce(source, 2, 50)).toEqual([]);
  });

  test("ends its wait when the signal aborts", async () => {
    const source = await openSource();
    const controller = new AbortController();
    const read = source.read(1, { signal: controller.signal, waitMs: 100_000 });
    controller.abort();
    expect(await read).toEqual([]);
  });

  test("keeps messages of one key in order", async () => {
    const sink = await openSink();
    const sent = Array.from({ length: 100 }, (_, index) => ({
      id: String(index),
      value: String(index),
      key: "same",
      headers: {},
    }));
    for (let at = 0; at < sent.length; at += 10)
      await sink.write(sent.slice(at, at + 10), { signal: neverAborted });
    const read = await readSoon(await openSource(), 100);
    expect(textsOf(read)).toEqual(sent.map(({ value }) => value));
  });

  test("goes on behind the lowest unacknowledged message of each partition", async () => {
    const sink = await openSink();
    const sent = messagesOf("0", "1", "2", "3", "4").map((each) => ({ ...each, key: "same" }));
    await sink.write(sent, { signal: neverAborted });
    const before = await openSource();
    const read = await readSoon(before, 5);
    await before.ack([0, 1, 3].map((index) => read[index]).filter((each) => each !== undefined));
    await before.close();
    const after = await openSource();
    expect(textsOf(await readSoon(after, 3))).toEqual(["2", "3", "4"]);
    expect(await readOnce(after, 1, 200)).toEqual([]);
  });

  test("gives the partitions of a closed member to another one, which repeats only what is unacknowledged", async () => {
    const [one, two] = [await openSource(), await openSource()];
    await add(...Array.from({ length: 100 }, (_, index) => index));
    const done = new Set<string>();
    // Both get some; the first acknowledges none of its own and goes.
    let unacknowledged: readonly Message<Buffer | null>[] = [];
    while (unacknowledged.length === 0) unacknowledged = await readOnce(one, 10, 500);
    await one.close();
    while (done.size < 100) {
      const read = await readOnce(two, 50, 500);
      for (const text of textsOf(read)) {
        expect(done).not.toContain(text);
        done.add(text);
      }
      await two.ack(read);
    }
    expect(await two.backlog?.()).toBe(0);
  });

  test("ignores acknowledgements of partitions that it has lost", async () => {
    const one = await openSource();
    await add(...Array.from({ length: 40 }, (_, index) => index));
    const read = await readSoon(one, 40);
    const told = testContext();
    const two = await openSource({}, told);
    await until(() => told.told.some(({ text }) => /partitions of this member: \d/.test(text)));
    // Its half of the messages comes again to the second member.
    const again = await readSoon(two, 1);
    await one.ack(read);
    await two.ack(again);
    const found = new Set(textsOf(again));
    while ((await two.backlog?.()) !== 0) {
      const more = await readOnce(two, 50, 200);
      for (const text of textsOf(more)) found.add(text);
      await two.ack(more);
    }
    expect(found.size).toBeGreaterThan(0);
    expect(found.size).toBeLessThan(40);
  });

  test("does not read a message twice that is in the pipeline during a rebalance", async () => {
    const context = testContext();
    const one = await openSource({}, context);
    await add(...Array.from({ length: 40 }, (_, index) => index));
    const read = await readSoon(one, 40);
    const joined = context.told.length;
    const two = await openSource();
    await until(() => context.told.length > joined);
    await two.close();
    await until(() =>
      context.told.some(({ text }, index) => index > joined && text.includes("0, 1")),
    );
    const lost = textsOf(await readOnce(one, 100, 1500));
    // One partition was away and comes again, the other stayed.
    expect(lost.length).toBeLessThan(40);
    await one.ack(read);
  });

  test("holds back a topic that the pipeline does not read", async () => {
    const source = await openSource();
    const value = "x".repeat(1000);
    // Once 2,000 wait in the source it fetches nothing; the fetch before brings as many at most. So 500 need another fetch.
    const many = Array.from({ length: 1500 }, () => value);
    for (let count = 0; count < 3; count++) await add(...many);
    let read = 0;
    await systemTimer.sleep(1500);
    while (read < 4500) {
      const messages = await readOnce(source, 500, PATIENCE_MS);
      expect(messages.length).toBeGreaterThan(0);
      read += messages.length;
      await source.ack(messages);
    }
    expect(await source.backlog?.()).toBe(0);
  });

  test("loses nothing acknowledged and repeats the rest after a restart of the server", async () => {
    const [sink, source] = [await openSink(), await openSource()];
    await sink.write(keyed("1", "2", "3", "4"), { signal: neverAborted });
    const read = await readSoon(source, 3, 3);
    await source.ack(read.slice(0, 1));
    await server.kill();
    const failed = await writeOnce(sink, keyed("5"));
    expect(failed).toBe("retriable");
    await server.restart();
    while ((await writeOnce(sink, keyed("5"))) !== "written") await systemTimer.sleep(200);
    await untilResolved(() => source.ack(read.slice(1, 2)));
    await source.close();
    const after = await openSource();
    expect(textsOf(await readSoon(after, 3))).toEqual(["3", "4", "5"]);
  });

  test("fails a message that is too large, and only that one", async () => {
    const sink = await openSink();
    const sent = messagesOf("a", "x".repeat(2_000_000), "b").map((each) => ({ ...each, key: "k" }));
    const results = await sink.write(sent, { signal: neverAborted });
    expect(results?.map((each) => each?.isRetriable)).toEqual([undefined, false, undefined]);
    expect(textsOf(await readSoon(await openSource(), 2))).toEqual(["a", "b"]);
  });

  test("refuses an unknown topic with the way out", async () => {
    const brokers = [server.broker];
    const source = kafkaSource({ brokers, topic: "nothing", group: GROUP });
    await expect(source.open(testContext())).rejects.toThrow(/create the topic first/);
    const sink = kafkaSink({ brokers, topic: "nothing" });
    await expect(sink.open(testContext())).rejects.toMatchObject({ canHeal: false });
  });

  test("refuses a wrong password with the way out, and takes the right one", async () => {
    const brokers = [server.saslBroker];
    const refused = kafkaSink({ brokers, topic, sasl: sasl("wrong-one") }).open(testContext());
    await expect(refused).rejects.toMatchObject({ code: "CONNECTION", canHeal: false });
    await expect(refused).rejects.toThrow(/mend the option sasl/);
    const sink = await kafkaSink({ brokers, topic, sasl: sasl("right-one") }).open(testContext());
    opened.push(sink);
    expect(await sink.write(messagesOf(1), { signal: neverAborted })).toEqual([undefined]);
  });
});

describe.skipIf(SKIPPED !== "")(`with Kafka${SKIPPED}`, () => {
  beforeAll(async () => {
    server = await KafkaServer.start();
  });
  afterAll(() => server.stop());

  sourceContract(
    "a topic of Kafka",
    async () => {
      await setUp();
      const settings = { brokers: [server.broker], topic, group: `${GROUP}-${topic}` };
      return { connector: kafkaSource(settings), put: (values) => add(...values), tearDown };
    },
    { patienceMs: PATIENCE_MS },
  );

  sinkContract("a topic of Kafka", async () => {
    await setUp();
    const all = async (count: number): Promise<Message<Buffer | null>[]> => {
      const group = `reader-${topic}`;
      const reader = await kafkaSource({ brokers: [server.broker], topic, group }).open(
        testContext(),
      );
      const messages = await readSoon(reader, count, 1000);
      await reader.close();
      return messages;
    };
    return {
      connector: kafkaSink({ brokers: [server.broker], topic }),
      received: async (count) => textsOf(await all(count)),
      headers: async () => (await all(1))[0]?.headers ?? {},
      tearDown,
    };
  });
});

async function setUp(): Promise<void> {
  topic = `contract-${++topics}`;
  await server.createTopic(topic, 1);
}

function tearDown(): Promise<void> {
  return Promise.resolve();
}

function keyed(...values: readonly string[]): Message[] {
  return messagesOf(...values).map((each) => ({ ...each, key: "same" }));
}

function sasl(password: string) {
  return { mechanism: "plain", username: "me", password } as const;
}

async function openSource(
  options: Partial<KafkaSourceOptions> = {},
  context: TestContext = testContext(),
): Promise<Source<Buffer | null>> {
  // Each topic has a group of its own: a group lives on in the broker.
  const settings = { brokers: [server.broker], topic, group: `${GROUP}-${topic}` };
  const source = await kafkaSource({ ...settings, sessionTimeoutMs: 6000, ...options }).open(
    context,
  );
  opened.push(source);
  return source;
}

async function openSink(): Promise<Sink> {
  const sink = await kafkaSink({ brokers: [server.broker], topic, timeoutMs: 2000 }).open(
    testContext(),
  );
  opened.push(sink);
  return sink;
}

async function add(...values: readonly unknown[]): Promise<void> {
  const sink = await kafkaSink({ brokers: [server.broker], topic }).open(testContext());
  // By their keys they are spread over the partitions.
  const sent = messagesOf(...values).map((each) => ({ ...each, key: each.id }));
  await sink.write(sent, { signal: neverAborted });
  await sink.close();
}

async function writeOnce(sink: Sink, messages: readonly Message[]): Promise<string> {
  try {
    const [result] = (await sink.write(messages, { signal: neverAborted })) ?? [];
    if (result === undefined) return "written";
    return result.isRetriable ? "retriable" : "refused";
  } catch {
    return "retriable";
  }
}

/** Reads until `count` messages have come; failed reads are tried again. */
async function readSoon(
  source: Source<Buffer | null>,
  count: number,
  countMax: number = 100,
): Promise<Message<Buffer | null>[]> {
  const found: Message<Buffer | null>[] = [];
  const untilMs = systemTimer.now() + PATIENCE_MS;
  while (found.length < count && systemTimer.now() < untilMs)
    found.push(
      ...(await readOnce(source, Math.min(countMax, count - found.length), 1000).catch(() => [])),
    );
  return found;
}

async function until(isSo: () => boolean): Promise<void> {
  const untilMs = systemTimer.now() + PATIENCE_MS;
  while (!isSo()) {
    if (systemTimer.now() > untilMs)
      throw new Error(`it did not come about within ${PATIENCE_MS} ms`);
    await systemTimer.sleep(50);
  }
}
