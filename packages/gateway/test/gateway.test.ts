/** A gateway in front of a broker, from end to end: real sockets, our own broker as the cluster. */
import type { Socket } from "node:net";
import { ConfigError } from "@sluice/core";
import { NO_ID } from "@sluice/pulsar/wire";
import { afterEach, describe, expect, test } from "vitest";
import {
  AUTHORITY,
  ELSEWHERE,
  EXPIRED,
  LOCALHOST,
  UNKNOWN,
} from "../../pulsar/test/certificates.ts";
import { startBroker } from "../src/index.ts";
import type { StartGatewayOptions } from "../src/index.ts";
import { createOpenSocket } from "../src/upstream/open-socket.ts";
import type { OpenSocket } from "../src/upstream/open-socket.ts";
import {
  clientOf,
  endScene,
  pairOf,
  rawClientOf,
  roundTrip,
  startFront,
  startScripted,
  startUpstream,
  until,
} from "./gateway-scene.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { entryOf } from "./session-driver.ts";

afterEach(endScene);

test("messages go through the gateway and back, in order", async () => {
  const broker = await startUpstream();
  const { gateway } = await startFront(broker.url);
  const client = await clientOf(gateway.url);
  expect(await roundTrip(client)).toEqual(["a", "b", "c"]);
  // All of it came by the gateway: lookups sent nobody to the broker itself.
  expect(broker.stats().connections).toBe(gateway.stats().connections);
  expect(gateway.stats().connections).toBeGreaterThan(0);
});

test("the bytes of an entry arrive as they were sent, whatever they are", async () => {
  const broker = await startScripted();
  const [client, peer] = await pairOf(await startFront(broker.url), broker);
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await peer.next("producer");
  peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
  const entry = Buffer.from("no entry at all, with a wrong checksum");
  client.send("send", { producerId: 1n, sequenceId: 1n }, entry);
  let frame = await peer.nextAny();
  expect([frame.command.kind, frame.entry]).toEqual(["send", entry]);
  const large = Buffer.alloc(3_000_000, "x");
  peer.send("message", { consumerId: 1n, messageId: { ledgerId: 1n, entryId: 1n } }, large);
  await client.next("producerSuccess");
  frame = await client.nextAny();
  expect(frame.entry.equals(large)).toBe(true);
});

describe("when the broker goes", () => {
  test("clients are closed, go on with the broker that comes back, and the operator hears of both", async () => {
    const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
    const front = await startFront(broker.url);
    const client = await clientOf(front.gateway.url);
    expect(await roundTrip(client)).toEqual(["a", "b", "c"]);
    await broker.close();
    await until(() => front.events.some(({ kind }) => kind === "upstream-lost"));
    const again = roundTrip(client, "public/default/other");
    await startUpstream({ listen: broker.url });
    expect(await again).toEqual(["a", "b", "c"]);
    const kinds = front.events.map(({ kind }) => kind);
    expect(kinds).toContain("upstream-back");
    expect(front.gateway.stats().lostUpstreams).toEqual([]);
  });

  test("the next address of the service URL is tried", async () => {
    const gone = await ScriptedBroker.start();
    const { port } = gone;
    await gone.close();
    const broker = await startUpstream();
    const url = `pulsar://127.0.0.1:${port},127.0.0.1:${broker.port}`;
    const front = await startFront(url);
    expect(await roundTrip(await clientOf(front.gateway.url))).toEqual(["a", "b", "c"]);
  });

  test("a client that comes hears why it cannot be served", async () => {
    const gone = await ScriptedBroker.start();
    const { url } = gone;
    await gone.close();
    const client = await rawClientOf(await startFront(url));
    client.send("connect", { clientVersion: "raw" });
    const [error] = await client.ended();
    expect(error).toMatchObject({ kind: "error", body: { requestId: NO_ID, error: 6 } });
    expect((error as { body: { message: string } }).body.message).toContain("cannot be reached");
  });

  test("a broker that accepts and says nothing is given up", async () => {
    const broker = await startScripted();
    const front = await startFront({ url: broker.url, handshakeMs: 50 });
    const client = await rawClientOf(front);
    client.send("connect", { clientVersion: "raw" });
    expect(await client.ended()).toMatchObject([{ kind: "error", body: { error: 6 } }]);
  });

  test("bytes of a broker that are no frames end that client only", async () => {
    const broker = await startScripted();
    const front = await startFront(broker.url);
    const [one, peer] = await pairOf(front, broker);
    const [other, otherPeer] = await pairOf(front, broker);
    peer.socket.write(Buffer.from("HTTP/1.1 400 Bad Request"));
    await one.ended();
    otherPeer.send("reachedEndOfTopic", { consumerId: 1n });
    await other.next("reachedEndOfTopic");
    // The broker is there: it serves the other client.
    expect(front.events.filter(({ kind }) => kind === "upstream-lost")).toEqual([]);
    expect(front.gateway.stats().upstreamConnections).toBe(1);
  });
});

test("connections to the broker that are cut again and again under load lose and reorder nothing", async () => {
  const broker = await startUpstream();
  const sockets = new Set<Socket>();
  const openSocket = createOpenSocket(undefined);
  const open: OpenSocket = async (endpoint, signal) => {
    const socket = await openSocket(endpoint, signal);
    sockets.add(socket);
    return socket;
  };
  let cuts = 0;
  const cut = (): void => {
    cuts++;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const front = await startFront(broker.url, {}, { open });
  const client = await clientOf(front.gateway.url);
  const topic = "public/default/cut";
  const subscription = { topic, subscription: "s", initialPosition: "earliest" } as const;
  const consumer = await (await clientOf(broker.url)).subscribe(subscription);
  const producer = await client.createProducer({ topic, batching: false });
  const count = 2_000;
  const acked: number[] = [];
  const sends = Array.from({ length: count }, async (_, index) => {
    await producer.send({ data: String(index) });
    acked.push(index);
    if (acked.length % 400 === 0) cut();
  });
  await Promise.all(sends);
  expect(acked).toEqual(Array.from({ length: count }, (_, index) => index));
  // What had no receipt was sent again, so that some may be there twice, but never out of order.
  const firsts = new Set<number>();
  while (firsts.size < count) {
    const index = Number((await consumer.receive()).data.toString());
    if (firsts.has(index)) continue;
    expect(index).toBe(firsts.size);
    firsts.add(index);
  }
  expect(cuts).toBe(5);
});

test("when a client goes, so does its connection to the broker, after what it has sent", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url);
  const [client, peer] = await pairOf(front, broker);
  const messageIds = [{ ledgerId: 1n, entryId: 1n }];
  client.send("ack", { consumerId: 1n, ackType: 0, messageIds });
  client.socket.end();
  await peer.next("ack");
  await peer.ended();
  await until(() => front.gateway.stats().connections === 0);
  await until(() => front.gateway.stats().memoryBytes === 0);
  expect(front.gateway.stats().upstreamConnections).toBe(0);
});
describe("TLS", () => {
  const ca = AUTHORITY;

  test("on both sides: messages go through, and names are checked", async () => {
    const broker = await startUpstream({ listen: "pulsar+ssl://127.0.0.1:0", tls: LOCALHOST });
    const front = await startFront(
      { url: `pulsar+ssl://localhost:${broker.port}`, tls: { ca } },
      { listen: "pulsar+ssl://127.0.0.1:0", tls: LOCALHOST },
    );
    const client = await clientOf(front.gateway.url, { tls: { ca } });
    expect(await roundTrip(client)).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["another name", ELSEWHERE, ca],
    ["a CA that is not trusted", UNKNOWN, ca],
    ["a date that is over", EXPIRED, ca],
    ["no CA that Node knows", LOCALHOST, undefined],
  ])("a broker whose certificate has %s gets no byte of CONNECT", async (_, tls, trusted) => {
    const broker = await startScripted({ tls });
    const url = `pulsar+ssl://localhost:${broker.port}`;
    const front = await startFront({ url, tls: { ca: trusted } });
    const client = await rawClientOf(front);
    client.send("connect", { clientVersion: "raw", authData: Buffer.from("secret") });
    expect(await client.ended()).toMatchObject([{ kind: "error", body: { error: 6 } }]);
    expect(broker.receivedBytes).toBe(0);
  });
});

test("credentials reach the broker, and a challenge reaches the client", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url);
  const client = await rawClientOf(front);
  client.send("connect", {
    clientVersion: "raw",
    authMethodName: "token",
    authData: Buffer.from("secret"),
  });
  const peer = await broker.connection();
  expect((await peer.next("connect")).authData).toEqual(Buffer.from("secret"));
  peer.send("authChallenge", { challenge: { authMethodName: "token" } });
  await client.next("authChallenge");
  client.send("authResponse", { response: { authData: Buffer.from("fresh") } });
  expect((await peer.next("authResponse")).response?.authData).toEqual(Buffer.from("fresh"));
  peer.send("connected", { serverVersion: "scripted" });
  await client.next("connected");
});

test("closing waits for the receipts of what was forwarded", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url, { drainMs: 10_000 });
  const [client, peer] = await pairOf(front, broker);
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await peer.next("producer");
  peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
  client.send("send", { producerId: 1n, sequenceId: 1n }, entryOf("x"));
  await peer.next("send");
  const closed = front.gateway.close();
  peer.send("sendReceipt", { producerId: 1n, sequenceId: 1n });
  await client.next("sendReceipt");
  await closed;
  await peer.ended();
});

test("an address that other machines reach is refused without naming an option that a gateway lacks", async () => {
  const refused = startFront("pulsar://broker", { listen: "pulsar://0.0.0.0:0" });
  await expect(refused).rejects.toThrow(/without TLS; listen on pulsar\+ssl:/);
});

test("closing drops held SENDs, and waits for the receipts of what was forwarded", async () => {
  const broker = await startScripted();
  const limits = { topics: { t: { messages: 100 } } };
  const front = await startFront(broker.url, { drainMs: 10_000, limits });
  const [client, peer] = await pairOf(front, broker);
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await peer.next("producer");
  peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
  for (const sequenceId of [1n, 2n, 3n])
    client.send("send", { producerId: 1n, sequenceId, numMessages: 1_000 }, entryOf("x"));
  await peer.next("send");
  await until(() => front.gateway.stats().heldBytes > 0);
  const closed = front.gateway.close();
  expect(front.gateway.stats()).toMatchObject({ heldBytes: 0, pendingSends: 1 });
  peer.send("sendReceipt", { producerId: 1n, sequenceId: 1n });
  await client.next("sendReceipt");
  await closed;
});

test.each([
  { upstream: "http://broker" },
  { upstream: { url: "pulsar://broker", tls: {} } },
  { upstream: { url: "pulsar://broker", lookup: "guess" as "auto" } },
  { upstream: { url: "pulsar://broker", allow: { hosts: ["broker"] } } },
  { upstream: { url: "pulsar://broker", allow: { addresses: ["10.0.0.0/99"] } } },
  { upstream: { url: "pulsar://broker", ...({ colour: "blue" } as object) } },
  { upstream: { url: "pulsar+ssl://broker", tls: { ca: "x", cert: "y", key: "z" } } },
  { upstream: "pulsar://broker", listen: "pulsar://0.0.0.0:0" },
  { upstream: "pulsar://broker", limits: { topics: { t: { messages: -1 } } } },
] satisfies StartGatewayOptions[])("the options %j are refused", async (options) => {
  await expect(startFront(options.upstream, options)).rejects.toThrow(ConfigError);
});
