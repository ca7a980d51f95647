/** Clients and brokers that are too slow or too fast for a gateway, on real sockets. */
import { systemTimer } from "@sluice/core/system";
import { ThrottleCodec } from "@sluice/pulsar/wire";
import { afterEach, describe, expect, test } from "vitest";
import {
  clientOf,
  endScene,
  pairOf,
  rawClientOf,
  startFront,
  startScripted,
  startUpstream,
  until,
} from "./gateway-scene.ts";
import { frameBytes } from "./raw-client.ts";
import type { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

afterEach(endScene);

test("a client that does not read stops its broker's connection, and nobody else's", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url);
  const [deaf, sender] = await pairOf(front, broker);
  const [other, otherPeer] = await pairOf(front, broker);
  deaf.socket.pause();
  const entry = Buffer.alloc(10_000);
  const message = { consumerId: 1n, messageId: { ledgerId: 1n, entryId: 1n } };
  const takenBytes = (): number => sender.socket.bytesWritten - sender.socket.writableLength;
  let before = -1;
  while (takenBytes() > before || takenBytes() < 200_000) {
    before = takenBytes();
    for (let sent = 0; sent < 1_000; sent++) sender.send("message", message, entry);
    await systemTimer.sleep(50);
  }
  expect(front.gateway.stats().unreadBytes).toBeLessThan(1_000_000);
  otherPeer.send("reachedEndOfTopic", { consumerId: 1n });
  await other.next("reachedEndOfTopic");
  // It goes on where it stopped.
  deaf.socket.resume();
  await until(() => sender.socket.writableLength === 0);
});

test("clients that ask for large messages and do not read them cannot fill the memory", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url, { memoryBytesMax: 8 * 1024 * 1024 });
  const pairs: [RawClient, RawClient][] = [];
  for (let client = 0; client < 6; client++) pairs.push(await pairOf(front, broker));
  const entry = Buffer.alloc(3_000_000);
  const message = { consumerId: 1n, messageId: { ledgerId: 1n, entryId: 1n } };
  for (const [client, peer] of pairs) {
    client.socket.pause();
    for (let sent = 0; sent < 3; sent++) peer.send("message", message, entry);
  }
  let peakBytes = 0;
  // A busy machine needs seconds until the first bytes are there.
  for (let looks = 0; looks < 40 || (peakBytes <= 1_000_000 && looks < 4_000); looks++) {
    peakBytes = Math.max(peakBytes, front.gateway.stats().memoryBytes);
    await systemTimer.sleep(5);
  }
  expect(peakBytes).toBeGreaterThan(1_000_000);
  expect(peakBytes).toBeLessThan(6 * 1024 * 1024);
  for (const [client] of pairs) client.socket.resume();
  for (const [client] of pairs)
    for (let got = 0; got < 3; got++)
      expect((await client.nextAny()).entry.length).toBe(entry.length);
  await until(() => front.gateway.stats().unreadBytes === 0);
});

test("a broker that does not read stops its client, and the bytes that are held stay few", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url);
  const [client, peer] = await pairOf(front, broker);
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await peer.next("producer");
  peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
  await client.next("producerSuccess");
  peer.socket.pause();
  const entry = Buffer.alloc(100_000);
  for (let sequenceId = 1n; sequenceId <= 300n; sequenceId++)
    client.send("send", { producerId: 1n, sequenceId }, entry);
  await until(() => front.gateway.stats().pausedConnections === 1);
  expect(front.gateway.stats().memoryBytes).toBeLessThan(2_000_000);
  peer.socket.resume();
  await until(() => client.socket.writableLength === 0);
  await until(() => front.gateway.stats().pendingSends === 300);
});

describe("publish limits", () => {
  test("slow the topic that exceeds its limit, and nothing else on the same connection", async () => {
    const broker = await startUpstream();
    const topic = "public/default/slow";
    const front = await startFront(broker.url, {
      limits: { topics: { [topic]: { messages: 1 } } },
    });
    const client = await clientOf(front.gateway.url);
    const slow = await client.createProducer({ topic, batching: false });
    const fast = await client.createProducer({ topic: "public/default/fast", batching: false });
    const data = Buffer.from("x");
    const limited = Promise.all(Array.from({ length: 25 }, () => slow.send({ data })));
    await Promise.all(Array.from({ length: 500 }, () => fast.send({ data })));
    const { ingress } = front.gateway;
    const waiting = ingress.waiting(systemTimer.now());
    expect(waiting.map(({ topic: name }) => name)).toEqual([`persistent://${topic}`]);
    // A limit that is raised wakes what waits for it: at the old rate it would take 20 s.
    ingress.limits.set({ level: "topic", name: topic }, { messages: 1e6 }, systemTimer.now());
    await limited;
    expect(ingress.waiting(systemTimer.now())).toEqual([]);
  });

  test("are told to a client that knows the throttle commands, and to no broker", async () => {
    const broker = await startScripted();
    const throttle = new ThrottleCodec();
    const front = await startFront(broker.url, { limits: { topicDefault: { messages: 2 } } });
    const client = await rawClientOf(front);
    const featureFlags = throttle.announceIn({});
    client.send("connect", { clientVersion: "aware", protocolVersion: 21, featureFlags });
    const peer = await broker.connected();
    const connected = await client.next("connected");
    expect(throttle.isAnnouncedIn(connected.featureFlags)).toBe(true);
    client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
    await peer.next("producer");
    peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
    await client.next("producerSuccess");
    for (let sequenceId = 1n; sequenceId <= 3n; sequenceId++)
      client.send("send", { producerId: 1n, sequenceId }, entryOf("x"));
    const { command } = await client.nextAny();
    if (command.kind !== "unknown") throw new Error(`${command.kind} came instead`);
    const notice = throttle.decode(command);
    if (notice?.kind !== "throttleProducer") throw new Error("no notice");
    expect(notice.body).toMatchObject({ producerId: 1n, throttlingReason: 0 });
    const { requestId } = notice.body;
    client.socket.write(
      frameBytes(throttle.encode({ kind: "throttleProducerReceipt", body: { requestId } })),
    );
    await until(() => front.gateway.ingress.noticeCounts.receipts === 1);
    client.close();
    const kinds = (await peer.ended()).map(({ kind }) => kind);
    expect(kinds.every((kind) => kind === "send")).toBe(true);
  });

  test("hold nothing for a client that has left", async () => {
    const broker = await startScripted();
    const limits = { topicDefault: { messages: 1 } };
    const front = await startFront(broker.url, { limits });
    const [client, peer] = await pairOf(front, broker);
    client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
    await peer.next("producer");
    peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
    for (let sequenceId = 1n; sequenceId <= 5n; sequenceId++)
      client.send("send", { producerId: 1n, sequenceId }, entryOf("x"));
    await until(() => front.gateway.ingress.waiting(systemTimer.now()).length === 1);
    client.close();
    const left = await peer.ended();
    expect(left.filter(({ kind }) => kind === "send").length).toBeLessThanOrEqual(2);
    expect(front.gateway.ingress.waiting(systemTimer.now())).toEqual([]);
    await until(() => front.gateway.stats().memoryBytes === 0);
  });
});
