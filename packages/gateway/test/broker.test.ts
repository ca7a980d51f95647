/** A broker as its clients see it, on real sockets. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { ConfigError } from "@sluice/core";
import { SERVER_ERROR } from "@sluice/pulsar/wire";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { ListenError, startBroker } from "../src/index.ts";
import type { BrokerEvent, RunningBroker, StartBrokerOptions } from "../src/index.ts";
import { startTestBroker } from "./broker-world.ts";
import { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const OPENSSL = "openssl";
const hasOpenssl = spawnSync(OPENSSL, ["version"]).status === 0;

/** What a test has started, ended in reverse. */
const started: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

async function start(options: Partial<StartBrokerOptions> = {}): Promise<RunningBroker> {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory", ...options });
  started.push(() => broker.close());
  return broker;
}

async function connected({ port }: RunningBroker): Promise<RawClient> {
  const client = await RawClient.connected(port);
  started.push(() => client.close());
  return client;
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-broker-"));
  started.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("what was acknowledged to a producer is there after a restart", async () => {
  const data = { folder: await temporaryFolder() };
  const first = await start({ data });
  const producer = await connected(first);
  producer.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await producer.next("producerSuccess");
  producer.send("send", { producerId: 1n, sequenceId: 5n }, entryOf("kept"));
  const { messageId } = await producer.next("sendReceipt");
  await first.close();

  const consumer = await connected(await start({ data }));
  const subscribe = { topic: "t", subscription: "s", subType: 0, consumerId: 2n, requestId: 2n };
  consumer.send("subscribe", { ...subscribe, initialPosition: 1 });
  await consumer.next("success");
  consumer.send("flow", { consumerId: 2n, messagePermits: 10 });
  const message = await consumer.next("message");
  expect(message.messageId.ledgerId).toBe(messageId?.ledgerId);
  expect(message.messageId.entryId).toBe(messageId?.entryId);
});

test("a broker that cannot store its last words still says goodbye", async () => {
  const folder = await temporaryFolder();
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: { folder } });
  const client = await connected(broker);
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  client.send("send", { producerId: 1n, sequenceId: 0n }, entryOf("x"));
  await client.next("sendReceipt");
  await rm(folder, { recursive: true });
  await expect(broker.close()).rejects.toMatchObject({ code: "STORAGE" });
  await client.ended();
});

test("an observer hears which client was closed and why; an error that it throws is dropped", async () => {
  const heard: BrokerEvent[] = [];
  const broker = await start({
    observe: (event) => {
      heard.push(event);
      throw new Error("the observer's own");
    },
  });
  const client = await connected(broker);
  const { localPort } = client.socket;
  client.send("connect", { clientVersion: "again" });
  await client.ended();
  await connected(broker);
  expect(heard).toEqual([
    { kind: "client-closed", address: `127.0.0.1:${localPort}`, reason: "a second CONNECT" },
  ]);
});

test("an address that other machines reach needs a token, TLS, or a word that anonymous is meant", async () => {
  const listen = "pulsar://0.0.0.0:0";
  await expect(start({ listen })).rejects.toThrow("allowAnonymous: true");
  await expect(start({ listen, allowAnonymous: true })).resolves.toBeDefined();
  await expect(start({ listen, token: { secretKey: Buffer.alloc(32) } })).resolves.toBeDefined();
});

test("a topic that was given more partitions keeps them over a restart with its old number, and gets more", async () => {
  const data = { folder: await mkdtemp(join(tmpdir(), "sluice-partitions-")) };
  onTestFinished(() => rm(data.folder, { recursive: true, force: true }));
  for (const [given, expected] of [
    [2, 2],
    [4, 4],
    [2, 4],
  ] as const) {
    const running = await startBroker({
      listen: "pulsar://127.0.0.1:0",
      data,
      partitions: { t: given },
    });
    expect(running.administered.broker.partitionsOf("t")).toBe(expected);
    await running.close();
  }
});

test("partitions are counted and named", async () => {
  const client = await connected(await start({ partitions: { orders: 3 } }));
  client.send("partitionedMetadata", { topic: "orders", requestId: 1n });
  expect(await client.next("partitionedMetadataResponse")).toMatchObject({ partitions: 3 });
  client.send("partitionedMetadata", { topic: "other", requestId: 2n });
  expect(await client.next("partitionedMetadataResponse")).toMatchObject({ partitions: 0 });
  client.send("partitionedMetadata", {
    topic: "other",
    requestId: 3n,
    metadataAutoCreationEnabled: false,
  });
  expect(await client.next("partitionedMetadataResponse")).toMatchObject({
    error: SERVER_ERROR.TopicNotFound,
  });
  client.send("producer", { topic: "orders-partition-1", producerId: 1n, requestId: 4n });
  await client.next("producerSuccess");
  client.send("getTopicsOfNamespace", { namespace: "public/default", requestId: 5n });
  expect((await client.next("getTopicsOfNamespaceResponse")).topics).toContain(
    "persistent://public/default/orders-partition-1",
  );
});

test("a producer's schema is given to whoever asks for it", async () => {
  const client = await connected(await start());
  const schema = { name: "s", type: 2, schemaData: Buffer.from("{}") };
  client.send("getSchema", { topic: "t", requestId: 1n });
  expect(await client.next("getSchemaResponse")).toMatchObject({
    errorCode: SERVER_ERROR.TopicNotFound,
  });
  client.send("producer", { topic: "t", producerId: 1n, requestId: 2n, schema });
  const { schemaVersion } = await client.next("producerSuccess");
  expect(schemaVersion).toEqual(Buffer.alloc(8));
  client.send("getOrCreateSchema", { topic: "t", requestId: 3n, schema });
  expect(await client.next("getOrCreateSchemaResponse")).toMatchObject({ schemaVersion });
  client.send("getSchema", { topic: "t", requestId: 4n });
  expect(await client.next("getSchemaResponse")).toMatchObject({ schema, schemaVersion });
});

test("a SEEK closes its consumer, which subscribes again and starts there", async () => {
  const client = await connected(await start());
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  const subscribe = { topic: "t", subscription: "s", subType: 0, consumerId: 1n };
  client.send("subscribe", { ...subscribe, requestId: 2n });
  await client.next("success");
  client.send("send", { producerId: 1n, sequenceId: 0n }, entryOf("first"));
  const { messageId } = await client.next("sendReceipt");
  client.send("flow", { consumerId: 1n, messagePermits: 1 });
  await client.next("message");
  client.send("getLastMessageId", { consumerId: 1n, requestId: 3n });
  const { lastMessageId } = await client.next("getLastMessageIdResponse");
  expect(lastMessageId.entryId).toBe(messageId?.entryId);
  client.send("ack", { consumerId: 1n, ackType: 1, messageIds: [lastMessageId], requestId: 4n });
  expect((await client.next("ackResponse")).error).toBeUndefined();
  client.send("seek", { consumerId: 1n, requestId: 5n, messageId: lastMessageId });
  expect((await client.next("closeConsumer")).consumerId).toBe(1n);
  expect((await client.next("success")).requestId).toBe(5n);
  client.send("subscribe", { ...subscribe, requestId: 6n });
  await client.next("success");
  client.send("flow", { consumerId: 1n, messagePermits: 1 });
  expect((await client.next("message")).messageId.entryId).toBe(messageId?.entryId);
});

test("a reader may begin some time ago", async () => {
  const broker = await startTestBroker();
  started.push(() => broker.close());
  const client = await RawClient.connected(broker.port);
  started.push(() => client.close());
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  const entryIds: (bigint | undefined)[] = [];
  for (const sequenceId of [0n, 1n]) {
    client.send("send", { producerId: 1n, sequenceId }, entryOf("x"));
    entryIds.push((await client.next("sendReceipt")).messageId?.entryId);
    await broker.timer.advance(20_000);
  }
  client.send("subscribe", {
    topic: "t",
    subscription: "reader",
    subType: 0,
    consumerId: 1n,
    requestId: 2n,
    durable: false,
    startMessageRollbackDurationSec: 30n,
  });
  await client.next("success");
  client.send("flow", { consumerId: 1n, messagePermits: 1 });
  expect((await client.next("message")).messageId.entryId).toBe(entryIds[1]);
});

test("an address that is taken is an error that says so, and the folder is free again", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  started.push(() => {
    other.close();
  });
  const { port } = other.address() as AddressInfo;
  const data = { folder: await temporaryFolder() };
  const listen = ["pulsar://127.0.0.1:0", `pulsar://127.0.0.1:${port}`];
  await expect(start({ listen, data })).rejects.toThrow(ListenError);
  await expect(start({ data })).resolves.toBeDefined();
});

test.each([
  { listen: [] },
  { listen: "http://127.0.0.1" },
  { listen: "pulsar+ssl://127.0.0.1:0" },
  { listen: "pulsar+ssl://127.0.0.1:0", tls: { cert: "x", key: "y" } },
  { session: { producersMax: 0 } },
  { memoryBytesMax: -1 },
  { roles: { shop: {} } },
  { token: { secretKey: Buffer.alloc(32) }, roles: { shop: { produce: ["orders"] } } },
  { partitions: { t: 0 } },
  { token: { secretKey: Buffer.alloc(8) } },
  { broker: { retention: { ageMaxMs: -1 } } },
  { colour: "blue" } as object,
  { session: { messageBytesMax: 16 * 1024 * 1024 } },
] satisfies Partial<StartBrokerOptions>[])("the options %j are refused", async (options) => {
  await expect(start(options)).rejects.toThrow(ConfigError);
});

test.skipIf(!hasOpenssl)("clients may come over TLS, and are sent to where they can", async () => {
  const folder = await temporaryFolder();
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const args = ["req", "-x509", ...kind, "-keyout", key, "-out", cert, "-days", "2", ...subject];
  expect(spawnSync(OPENSSL, args).status).toBe(0);
  const tls = { key: await readFile(key), cert: await readFile(cert) };
  const listen = ["pulsar://127.0.0.1:0", "pulsar+ssl://127.0.0.1:0"];
  const broker = await start({ listen, tls });
  const port = Number(broker.urls[1]?.split(":").at(-1));
  const socket = connectTls({ port, host: "127.0.0.1", ca: tls.cert, servername: "localhost" });
  await once(socket, "secureConnect");
  const client = new RawClient(socket);
  started.push(() => client.close());
  client.send("connect", { clientVersion: "tls" });
  await client.next("connected");
  client.send("lookup", { topic: "t", requestId: 1n });
  expect(await client.next("lookupResponse")).toMatchObject({
    brokerServiceUrl: broker.urls[0],
    brokerServiceUrlTls: broker.urls[1],
  });
});
