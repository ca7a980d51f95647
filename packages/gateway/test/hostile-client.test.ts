/** Clients that mean no good, or do not know better, on real sockets. */
import { once } from "node:events";
import { nextTurn } from "@sluice/core/system";
import { NO_ID, SERVER_ERROR } from "@sluice/pulsar/wire";
import { afterEach, expect, test } from "vitest";
import { passUntil, startTestBroker } from "./broker-world.ts";
import type { TestBroker } from "./broker-world.ts";
import { frameBytes, RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const MIB = 1024 * 1024;

let broker: TestBroker | undefined;
const clients: RawClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await broker?.close();
  broker = undefined;
});

async function start(options: Parameters<typeof startTestBroker>[0] = {}): Promise<TestBroker> {
  broker = await startTestBroker(options);
  return broker;
}

function keep(client: RawClient): RawClient {
  clients.push(client);
  return client;
}

test("a client that says nothing is closed after five seconds", async () => {
  const { port, timer, stats } = await start();
  const client = keep(await RawClient.open(port));
  await until(() => stats().connections === 1);
  await timer.advance(4_500);
  expect(stats().connections).toBe(1);
  await timer.advance(1_000);
  expect(await client.ended()).toEqual([]);
});

test.each([0, 3, 65_537, 2 ** 31, 2 ** 32 - 1])(
  "a first frame of %i bytes is not waited for, and nothing is reserved for it",
  async (announced) => {
    const { port } = await start();
    const before = process.memoryUsage().arrayBuffers;
    const client = keep(await RawClient.open(port));
    const header = Buffer.alloc(8);
    header.writeUInt32BE(announced, 0);
    client.socket.write(header);
    await client.ended();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB);
  },
);

test("a frame larger than a message may be ends the connection of a client that was let in", async () => {
  const { port } = await start();
  const client = keep(await RawClient.connected(port));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(5_242_880 + 10_240, 0);
  client.socket.write(header);
  await client.ended();
});

test("a command larger than 256 KiB ends the connection, however large an entry may be", async () => {
  const { port } = await start();
  const client = keep(await RawClient.connected(port));
  const messageIds = Array.from({ length: 200_000 }, () => ({ ledgerId: 0n, entryId: 0n }));
  client.send("ack", { consumerId: 1n, ackType: 0, messageIds });
  expect(await client.ended()).toEqual([]);
});

test("a frame that takes half a minute ends its connection, and no other", async () => {
  const { port, timer, stats } = await start();
  const slow = keep(await RawClient.connected(port));
  const good = keep(await RawClient.connected(port));
  slow.socket.write(frameBytes({ kind: "ping", body: {} }).subarray(0, 5));
  // It must have arrived before time goes on.
  good.send("ping", {});
  await good.next("pong");
  for (let second = 0; second < 31; second++) {
    await timer.advance(1_000);
    good.send("ping", {});
    await good.next("pong");
  }
  await slow.ended();
  expect(stats().connections).toBe(1);
});

test("bytes that are no command end the connection", async () => {
  const { port } = await start();
  const client = keep(await RawClient.connected(port));
  client.socket.write(Buffer.from([0, 0, 0, 8, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff]));
  await client.ended();
});

test("a client that asks and never reads is not heard any more, and is closed after a minute", async () => {
  const { port, stats, timer } = await start();
  const client = keep(await RawClient.connected(port));
  const topics = Array.from({ length: 50 }, (_, index) => `t${index}-${"x".repeat(150)}`);
  for (const [index, topic] of topics.entries()) {
    const id = BigInt(index);
    client.send("producer", { topic, producerId: id, requestId: id });
    await client.next("producerSuccess");
  }
  client.socket.pause();
  const ask = frameBytes({
    kind: "getTopicsOfNamespace",
    body: { namespace: "public/default", requestId: 1n },
  });
  // 18 MB of answers, more than the system's buffers take.
  client.socket.write(Buffer.concat(Array.from({ length: 2_000 }, () => ask)));
  await until(() => stats().pausedConnections === 1);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  // Messages stop at 64 KiB; answers that come after that count up to 64 KiB more, and one answer.
  expect(stats().unreadBytes).toBeGreaterThan(64 * 1024);
  expect(stats().unreadBytes).toBeLessThan(160 * 1024);
  expect(stats()).toMatchObject({ connections: 1, pausedConnections: 1 });
  await timer.advance(59_000);
  expect(stats().connections).toBe(1);
  for (let second = 0; second < 3; second++) await timer.advance(1_000);
  await until(() => stats().connections === 0);
});

test("a client that reads slowly but steadily stays, however long it takes", async () => {
  const { port, stats, timer } = await start();
  const producer = keep(await RawClient.connected(port));
  const consumer = keep(await RawClient.connected(port));
  const topic = "t";
  const ids = { consumerId: 1n, requestId: 1n };
  consumer.send("subscribe", { topic, subscription: "s", subType: 0, ...ids });
  await consumer.next("success");
  consumer.send("flow", { consumerId: 1n, messagePermits: 100_000 });
  producer.send("producer", { topic, producerId: 1n, requestId: 1n });
  await producer.next("producerSuccess");
  consumer.socket.pause();
  const entry = entryOf("x".repeat(256 * 1024));
  for (let sequenceId = 0n; sequenceId < 100n; sequenceId++) {
    producer.send("send", { producerId: 1n, sequenceId }, entry);
    await producer.next("sendReceipt");
  }
  // It takes some bytes twice a minute: five minutes for what others take in a second.
  for (let step = 0; step < 10; step++) {
    const before = stats().unreadBytes;
    expect(before).toBeGreaterThan(64 * 1024);
    while (stats().unreadBytes === before) {
      consumer.socket.read();
      await nextTurn();
    }
    await timer.advance(29_000);
    for (const client of [producer, consumer]) client.send("ping", {});
    await producer.next("pong");
  }
  expect(stats().connections).toBe(2);
});

test("a consumer that never reads is sent little, and is closed after a minute in which it took nothing", async () => {
  const { port, stats, timer } = await start();
  const producer = keep(await RawClient.connected(port));
  const consumer = keep(await RawClient.connected(port));
  const topic = "t";
  consumer.send("subscribe", {
    topic,
    subscription: "s",
    subType: 0,
    consumerId: 1n,
    requestId: 1n,
  });
  await consumer.next("success");
  consumer.socket.pause();
  consumer.send("flow", { consumerId: 1n, messagePermits: 100_000 });
  producer.send("producer", { topic, producerId: 1n, requestId: 1n });
  await producer.next("producerSuccess");
  const entry = entryOf("x".repeat(256 * 1024));
  for (let sequence = 0n; sequence < 100n; sequence++) {
    producer.send("send", { producerId: 1n, sequenceId: sequence }, entry);
    await producer.next("sendReceipt");
  }
  // Of 25 MiB no more than one read of the topic is on its way.
  expect(stats().unreadBytes).toBeLessThan(1.5 * MIB);
  for (let second = 0; second < 65; second++) {
    for (const client of [producer, consumer]) client.send("ping", {});
    await producer.next("pong");
    await timer.advance(1_000);
  }
  await until(() => stats().connections === 1);
});

test("one connection opens a thousand producers, and 19,000 more are refused", async () => {
  const { port, stats, timer } = await start();
  const client = keep(await RawClient.connected(port));
  const count = 20_000;
  const before = process.memoryUsage().rss;
  const answers = async (): Promise<{ opened: number; refused: number }> => {
    let opened = 0;
    let refused = 0;
    while (opened + refused < count) {
      const { command } = await client.nextAny();
      if (command.kind === "producerSuccess") opened++;
      if (command.kind === "error" && command.body.error === SERVER_ERROR.TooManyRequests)
        refused++;
    }
    return { opened, refused };
  };
  const answered = answers();
  for (let id = 0; id < count; id++) {
    const body = { topic: "t", producerId: BigInt(id), requestId: BigInt(id) };
    if (!client.socket.write(frameBytes({ kind: "producer", body })))
      while (client.socket.writableNeedDrain) await timer.advance(1_000);
  }
  expect(await passUntil(timer, answered)).toEqual({ opened: 1_000, refused: 19_000 });
  expect(stats().producers).toBe(1_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * MIB);
});

test("connections beyond the bound are told so", async () => {
  const { port, stats } = await start({ connections: { connectionsMax: 2 } });
  keep(await RawClient.connected(port));
  keep(await RawClient.connected(port));
  const third = keep(await RawClient.open(port));
  expect(await third.ended()).toMatchObject([{ kind: "error", body: { requestId: NO_ID } }]);
  expect(stats()).toMatchObject({ connections: 2, refusedConnections: 1 });
});

test("a client that leaves takes its producers and consumers with it", async () => {
  const { port, stats } = await start();
  const client = await RawClient.connected(port);
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  expect(stats().topics).toMatchObject([{ producers: [{ id: 1n }] }]);
  client.close();
  await until(() => stats().connections === 0);
  expect(stats().topics).toMatchObject([{ producers: [] }]);
});

test("a topic without room closes its producer, and nobody else on that connection", async () => {
  const { port, timer } = await start();
  const client = keep(await RawClient.connected(port));
  client.send("subscribe", {
    topic: "full",
    subscription: "slow",
    subType: 0,
    consumerId: 1n,
    requestId: 1n,
  });
  await client.next("success");
  const open = (producerId: bigint, topic: string): void =>
    client.send("producer", { topic, producerId, requestId: producerId });
  open(1n, "full");
  await client.next("producerSuccess");
  open(2n, "other");
  await client.next("producerSuccess");
  const entry = entryOf("x".repeat(5 * MIB));
  for (let sequenceId = 0n; sequenceId < 14n; sequenceId++)
    client.send("send", { producerId: 1n, sequenceId }, entry);
  for (let sequenceId = 0n; sequenceId < 12n; sequenceId++)
    expect((await client.nextAny()).command).toMatchObject({
      kind: "sendReceipt",
      body: { sequenceId },
    });
  expect((await client.nextAny()).command).toMatchObject({
    kind: "closeProducer",
    body: { producerId: 1n },
  });
  client.send("send", { producerId: 2n, sequenceId: 0n }, entryOf("x"));
  await client.next("sendReceipt");
  open(1n, "full");
  expect((await client.next("error")).error).toBe(SERVER_ERROR.ProducerBlockedQuotaExceededError);
  await timer.advance(1_000);
  open(1n, "full");
  await client.next("producerSuccess");
});

test("the end of a broker is a goodbye to its clients", async () => {
  const { port } = await start();
  const client = keep(await RawClient.connected(port));
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  await Promise.all([broker?.close(), once(client.socket, "end")]);
  broker = undefined;
  expect((await client.ended()).map(({ kind }) => kind)).toContain("closeProducer");
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

test.each(["producer", "consumer"])(
  "a %s whose client is gone without a word keeps its name for five seconds at most",
  async (what) => {
    const { port, stats, timer } = await start();
    const ask = async (client: RawClient): Promise<string> => {
      if (what === "producer")
        client.send("producer", {
          topic: "t",
          producerName: "mine",
          producerId: 1n,
          requestId: 1n,
        });
      else
        client.send("subscribe", {
          topic: "t",
          subscription: "s",
          subType: 0,
          consumerId: 1n,
          requestId: 1n,
        });
      for (;;) {
        const { command } = await client.nextAny();
        if (command.kind !== "ping") return command.kind;
      }
    };
    // It hears PINGs and answers none.
    const gone = keep(await RawClient.connected(port));
    await ask(gone);
    gone.socket.pause();
    const heir = keep(await RawClient.connected(port));
    expect(await ask(heir)).toBe("error");
    await until(() => stats().connections === 2);
    for (let tick = 0; tick < 24; tick++) await timer.advance(250);
    for (let tick = 0; tick < 8; tick++) {
      gone.socket.resume();
      await timer.advance(250);
    }
    await until(() => stats().connections === 1);
    expect(await ask(heir)).toBe(what === "producer" ? "producerSuccess" : "success");
  },
);
