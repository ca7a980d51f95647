import { inspect } from "node:util";
import zlib from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { VirtualTimer } from "@sluice/core/testing";
import { connect } from "../src/client/api/connect.ts";
import type { ClientOptions } from "../src/client/api/client-options.ts";
import { LOOKUP_RESULT, NO_ID, SERVER_ERROR } from "../src/wire/constants.ts";
import type { Command } from "../src/wire/command.ts";
import { encodeFrame } from "../src/wire/frame.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo, dependenciesOf } from "./virtual-client.ts";
import type { VirtualClient } from "./virtual-client.ts";

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

async function start(
  broker: ScriptedBroker,
  options: ClientOptions = {},
  url?: string,
): Promise<VirtualClient> {
  const connected = await connectTo(broker, options, url);
  opened.push(connected);
  return connected;
}

/** A connect that fails, and what it failed with. */
async function refused(broker: ScriptedBroker, options: ClientOptions = {}): Promise<unknown> {
  const timer = new VirtualTimer();
  const failed = connect("pulsar://broker:6650", {
    ...options,
    dependencies: dependenciesOf(broker, timer),
  }).then(
    () => {
      throw new Error("it connected");
    },
    (error: unknown) => error,
  );
  await timer.advance(60_000);
  expect(timer.sleeping).toBe(0);
  expect(broker.open).toEqual([]);
  return failed;
}

/** Answers lookups by the host that is asked. */
function lookups(
  answers: Record<string, { response: number; url: string; proxied?: boolean }>,
): ScriptedBroker {
  return new ScriptedBroker({
    lookup: ({ body: { requestId } }, { endpoint }) => {
      const answer = answers[endpoint.host];
      return {
        kind: "lookupResponse",
        body: {
          requestId,
          response: answer?.response,
          brokerServiceUrl: answer?.url,
          brokerServiceUrlTls: answer?.url.replace("pulsar:", "pulsar+ssl:"),
          authoritative: true,
          proxyThroughServiceUrl: answer?.proxied,
        },
      };
    },
  });
}

describe("the handshake", () => {
  test("sends CONNECT with version, feature flags and token", async () => {
    const broker = new ScriptedBroker();
    await start(broker, { token: "secret" });
    expect(broker.last.heard[0]).toMatchObject({
      kind: "connect",
      body: {
        protocolVersion: 21,
        authMethodName: "token",
        authData: Buffer.from("secret"),
        featureFlags: { supportsAuthRefresh: true, supportsBrokerEntryMetadata: false },
      },
    });
  });

  test("fails at once with the broker's reason if the broker refuses the client", async () => {
    const broker = new ScriptedBroker({
      connect: () => ({
        kind: "error",
        body: { requestId: NO_ID, error: SERVER_ERROR.AuthenticationError, message: "who?" },
      }),
    });
    const error = await refused(broker, { token: "secret" });
    expect(error).toMatchObject({ code: "BROKER", serverError: "AuthenticationError" });
    expect(String(error)).toContain('are the credentials of the method "token" right');
    expect(inspect(error)).not.toContain("secret");
    expect(String(await refused(broker))).toContain("set token or authentication");
  });

  test("shows the broker's text in one printable line", async () => {
    const message = "no\r\n2026 INFO all is well\u001b[2J";
    const broker = new ScriptedBroker({
      connect: () => ({ kind: "error", body: { requestId: NO_ID, error: 0, message } }),
    });
    expect(await refused(broker)).toMatchObject({
      message: "UnknownError: no 2026 INFO all is well [2J",
    });
  });

  test("names the likely mistake if the peer closes the connection or is not a broker", async () => {
    const hangingUp = new ScriptedBroker({
      connect: (_, session) => {
        session.cut();
        return undefined;
      },
    });
    const hungUp = await refused(hangingUp);
    expect(hungUp).toMatchObject({ code: "CONNECTION" });
    expect(String(hungUp)).toContain("pulsar+ssl://");
    const webServer = new ScriptedBroker({
      connect: (_, session) => {
        session.link.deliver(Buffer.from("HTTP/1.1 400 Bad Request"));
        return undefined;
      },
    });
    const nonsense = await refused(webServer);
    expect(nonsense).toMatchObject({ code: "PROTOCOL" });
    expect(String(nonsense)).toContain("does not answer like a Pulsar broker");
  });

  test("fails if the host is unreachable, silent, or sends something else than CONNECTED", async () => {
    const nobody = new ScriptedBroker();
    nobody.unreachable.add("broker:6650");
    expect(await refused(nobody)).toMatchObject({ code: "CONNECTION" });
    expect(await refused(new ScriptedBroker({ connect: () => undefined }))).toMatchObject({
      code: "DEADLINE",
    });
    const hasty = new ScriptedBroker({ connect: () => ({ kind: "pong", body: {} }) });
    expect(await refused(hasty)).toMatchObject({ code: "PROTOCOL" });
  });

  test("does not show the value of a token function that returned no string", async () => {
    const error = await refused(new ScriptedBroker(), { token: () => 12_345 as never });
    expect(error).toMatchObject({ code: "CONNECTION" });
    expect(inspect(error)).not.toContain("12345");
  });

  test("fails with the token function's error as its cause", async () => {
    const reason = new Error("no vault");
    const token = (): Promise<string> => Promise.reject(reason);
    expect(await refused(new ScriptedBroker(), { token })).toMatchObject({
      code: "CONNECTION",
      cause: reason,
    });
    const never = new Promise<string>(() => undefined);
    expect(await refused(new ScriptedBroker(), { token: () => never })).toMatchObject({
      code: "DEADLINE",
    });
  });

  test("ends when the caller aborts, before and during it, and leaves nothing open", async () => {
    for (const isBefore of [true, false]) {
      const broker = new ScriptedBroker({ connect: () => undefined });
      const timer = new VirtualTimer();
      const aborting = new AbortController();
      if (isBefore) aborting.abort("no");
      const options = { dependencies: dependenciesOf(broker, timer) };
      const connecting = connect("pulsar://broker,other", options, aborting.signal);
      const failed = expect(connecting).rejects.toBe("no");
      await timer.advance(100);
      aborting.abort("no");
      await failed;
      await timer.advance(0);
      expect(timer.sleeping).toBe(0);
      expect(broker.open).toEqual([]);
      expect(broker.sessions).toHaveLength(isBefore ? 0 : 1);
    }
  });

  test("tries the addresses of the service URL in turn", async () => {
    const broker = new ScriptedBroker();
    broker.unreachable.add("a:6650").add("b:1");
    await start(broker, {}, "pulsar://a,b:1,c");
    expect(broker.last.endpoint).toEqual({ host: "c", port: 6650, isTls: false });
  });
});

describe("AUTH_CHALLENGE", () => {
  test("is answered with fresh credentials, during the handshake and later", async () => {
    let asked = 0;
    const challenge: Command = { kind: "authChallenge", body: { serverVersion: "x" } };
    const broker = new ScriptedBroker({
      connect: () => challenge,
      authResponse: (_, session) => {
        const hasConnected = session.countOf("authResponse") > 1;
        return hasConnected ? undefined : { kind: "connected", body: { serverVersion: "x" } };
      },
    });
    await start(broker, { token: () => Promise.resolve(`token-${asked++}`) });
    broker.last.link.deliver(Buffer.concat([encodeFrame(challenge), encodeFrame(challenge)]));
    await opened[0]?.timer.advance(0);
    const proofs = broker.last.heard.flatMap((command) =>
      command.kind === "authResponse" ? [String(command.body.response?.authData)] : [],
    );
    expect(proofs).toEqual(["token-1", "token-2"]);
  });

  test("whose answer is refused ends the producers with the broker's reason", async () => {
    const broker = new ScriptedBroker({ send: () => undefined });
    const { client, timer } = await start(broker, { token: "old" });
    const producer = await client.createProducer({ topic: "t" });
    const send = expect(producer.send({ data: "" })).rejects.toMatchObject({
      serverError: "AuthenticationError",
    });
    const body = { requestId: NO_ID, error: SERVER_ERROR.AuthenticationError, message: "expired" };
    broker.script.connect = () => ({ kind: "error", body });
    broker.last.tell({ kind: "error", body });
    await timer.advance(1_000);
    await send;
  });
});

describe("a silent broker", () => {
  test("gets PING, and is kept if it answers", async () => {
    const broker = new ScriptedBroker();
    const { timer } = await start(broker);
    await timer.advance(300_000);
    expect(broker.last.countOf("ping")).toBe(10);
    expect(broker.sessions).toHaveLength(1);
  });

  test("is given up after a minute, and its producers attach elsewhere", async () => {
    const broker = new ScriptedBroker();
    const { client, timer, events } = await start(broker);
    await client.createProducer({ topic: "t" });
    broker.script.ping = () => undefined;
    await timer.advance(59_999);
    expect(broker.sessions).toHaveLength(1);
    await timer.advance(1);
    expect(events.at(-1)).toMatchObject({ type: "detached", reason: { code: "CONNECTION" } });
    await timer.advance(100);
    expect(broker.open).toHaveLength(1);
    expect(events.map(({ type }) => type)).toEqual([
      "connected",
      "disconnected",
      "detached",
      "connected",
      "reattached",
    ]);
  });

  test("that asks and does not read cannot make replies pile up", async () => {
    const unreadBytesMax = 1_000;
    const broker = new ScriptedBroker({}, { unreadBytesMax });
    const { timer } = await start(broker);
    const { link } = broker.last;
    link.pause();
    for (let count = 0; count < 1_000; count++) broker.last.tell({ kind: "ping", body: {} });
    await timer.advance(0);
    expect(link.unreadBytesPeak).toBeLessThan(unreadBytesMax + 20);
    const before = broker.last.countOf("pong");
    link.resume();
    await timer.advance(0);
    // The last PING came while the connection was not writable: its PONG was queued, not dropped.
    expect(broker.last.heard.at(-1)?.kind).toBe("pong");
    expect(broker.last.countOf("pong")).toBeGreaterThan(before);
  });

  test("gets a reply that came due while the connection was not writable", async () => {
    const broker = new ScriptedBroker({ send: () => undefined }, { unreadBytesMax: 1_000 });
    const { client, timer } = await start(broker);
    const producer = await client.createProducer({ topic: "t" });
    broker.last.link.pause();
    producer.send({ data: Buffer.alloc(2_000) }).catch(() => undefined);
    await timer.advance(0);
    broker.last.tell({ kind: "ping", body: {} });
    await timer.advance(0);
    expect(broker.last.countOf("pong")).toBe(0);
    broker.last.link.resume();
    await timer.advance(0);
    expect(broker.last.countOf("pong")).toBe(1);
  });

  test("gets its PINGs answered, and unknown commands are ignored and told once per type", async () => {
    const broker = new ScriptedBroker();
    const { timer, events } = await start(broker);
    for (const type of [99, 1003, 99])
      broker.last.tell({ kind: "unknown", type, bytes: unknownCommand(type) });
    broker.last.tell({ kind: "ping", body: {} });
    await timer.advance(0);
    expect(broker.last.countOf("pong")).toBe(1);
    expect(broker.open).toHaveLength(1);
    expect(events.filter(({ type }) => type === "unknownCommand")).toMatchObject([
      { commandType: 99, address: "broker:6650" },
      { commandType: 1003, address: "broker:6650" },
    ]);
  });

  test("that sends 1,000 unknown types is told of 100 times at most", async () => {
    const broker = new ScriptedBroker();
    const { timer, events } = await start(broker);
    for (let type = 2_000; type < 3_000; type++)
      broker.last.tell({ kind: "unknown", type, bytes: unknownCommand(type) });
    await timer.advance(0);
    expect(events.filter(({ type }) => type === "unknownCommand")).toHaveLength(100);
  });
});

/** A BaseCommand with only its type. */
function unknownCommand(type: number): Buffer {
  return type < 128 ? Buffer.from([8, type]) : Buffer.from([8, (type & 127) | 128, type >>> 7]);
}

describe("a request", () => {
  test("without an answer fails at its timeout, and the next attempt may succeed", async () => {
    const broker = new ScriptedBroker();
    const answer = broker.script.lookup;
    broker.script.lookup = () => {
      broker.script.lookup = answer ?? (() => undefined);
      return undefined;
    };
    const { client, timer } = await start(broker, { operationTimeoutMs: 5_000 });
    const opening = client.createProducer({ topic: "t" });
    const failed = expect(opening).rejects.toMatchObject({ code: "DEADLINE" });
    await timer.advance(5_000);
    await failed;
    await client.createProducer({ topic: "t" });
  });

  test("answered by a command of another kind closes the connection", async () => {
    const broker = new ScriptedBroker({
      partitionedMetadata: ({ body: { requestId } }) => ({ kind: "success", body: { requestId } }),
    });
    const { client } = await start(broker);
    await expect(client.createProducer({ topic: "t" })).rejects.toMatchObject({ code: "PROTOCOL" });
    expect(broker.open).toEqual([]);
  });
});

describe("a lookup", () => {
  test("follows redirects", async () => {
    const broker = lookups({
      broker: { response: LOOKUP_RESULT.redirect, url: "pulsar://b:1" },
      b: { response: LOOKUP_RESULT.connect, url: "pulsar://c:2" },
    });
    const { client } = await start(broker);
    await client.createProducer({ topic: "t" });
    expect(broker.sessions.map(({ endpoint: { host, port } }) => `${host}:${port}`)).toEqual([
      "broker:6650",
      "b:1",
      "c:2",
    ]);
    const asked = broker.sessions[1]?.heard.find(({ kind }) => kind === "lookup");
    expect(asked).toMatchObject({ body: { authoritative: true } });
    expect(broker.last.countOf("producer")).toBe(1);
  });

  test("gives up after 20 redirects", async () => {
    const broker = lookups({
      broker: { response: LOOKUP_RESULT.redirect, url: "pulsar://b:1" },
      b: { response: LOOKUP_RESULT.redirect, url: "pulsar://broker:6650" },
    });
    const { client, timer } = await start(broker, { operationTimeoutMs: 1 });
    const opening = client.createProducer({ topic: "t" });
    const failed = expect(opening).rejects.toMatchObject({ code: "CONNECTION" });
    await timer.advance(1_000);
    await failed;
  });

  test("goes through the proxy if the broker is behind one", async () => {
    const broker = lookups({
      broker: { response: LOOKUP_RESULT.connect, url: "pulsar://inner:6650", proxied: true },
    });
    const { client } = await start(broker);
    await client.createProducer({ topic: "t" });
    expect(broker.sessions).toHaveLength(2);
    expect(broker.last.endpoint.host).toBe("broker");
    expect(broker.last.heard[0]).toMatchObject({ body: { proxyToBrokerUrl: "inner:6650" } });
  });

  test("needs no second connection to a broker that names itself as its proxy", async () => {
    const broker = lookups({
      broker: { response: LOOKUP_RESULT.connect, url: "pulsar://broker:6650", proxied: true },
    });
    const { client } = await start(broker);
    await client.createProducer({ topic: "t" });
    expect(broker.sessions).toHaveLength(1);
  });

  test("keeps to TLS", async () => {
    const broker = lookups({ broker: { response: LOOKUP_RESULT.connect, url: "pulsar://c:2" } });
    const { client } = await start(broker, {}, "pulsar+ssl://broker");
    await client.createProducer({ topic: "t" });
    expect(broker.sessions.map(({ endpoint }) => endpoint.isTls)).toEqual([true, true]);
  });

  test("that fails for good fails createProducer at once", async () => {
    const broker = new ScriptedBroker({
      lookup: ({ body: { requestId } }) => ({
        kind: "lookupResponse",
        body: { requestId, response: LOOKUP_RESULT.failed, error: SERVER_ERROR.TopicNotFound },
      }),
    });
    const { client } = await start(broker);
    await expect(client.createProducer({ topic: "t" })).rejects.toMatchObject({
      serverError: "TopicNotFound",
    });
  });
});

describe("attaching", () => {
  test("is retried for as long as operationTimeoutMs", async () => {
    const broker = new ScriptedBroker({
      producer: ({ body: { requestId } }) => ({
        kind: "error",
        body: { requestId, error: SERVER_ERROR.ServiceNotReady, message: "wait" },
      }),
    });
    const { client, timer } = await start(broker);
    const opening = client.createProducer({ topic: "t" });
    let failedAtMs = 0;
    const failed = expect(opening)
      .rejects.toMatchObject({ serverError: "ServiceNotReady" })
      .then(() => (failedAtMs = timer.now()));
    await timer.advance(120_000);
    await failed;
    expect(failedAtMs).toBeGreaterThanOrEqual(30_000);
    expect(broker.last.countOf("producer")).toBeGreaterThan(5);
  });

  test("that is aborted closes the producer at the broker and leaves nothing", async () => {
    const broker = new ScriptedBroker({ producer: () => undefined });
    const { client, timer } = await start(broker);
    const aborting = new AbortController();
    const opening = client.createProducer({ topic: "t" }, aborting.signal);
    await timer.advance(10);
    aborting.abort("no");
    await expect(opening).rejects.toBe("no");
    await timer.advance(0);
    expect(broker.last.heardKinds().slice(-2)).toEqual(["producer", "closeProducer"]);
  });

  test("uses the broker that CLOSE_PRODUCER assigns, without a lookup", async () => {
    const broker = new ScriptedBroker();
    const { client, timer } = await start(broker);
    const producer = await client.createProducer({ topic: "t" });
    broker.last.tell({
      kind: "closeProducer",
      body: { producerId: 1n, requestId: 0n, assignedBrokerServiceUrl: "pulsar://next:7" },
    });
    await timer.advance(100);
    expect(broker.last.endpoint).toEqual({ host: "next", port: 7, isTls: false });
    expect(broker.last.countOf("lookup")).toBe(0);
    await producer.send({ data: "" });
  });

  test("follows a migrated topic to its new cluster, and looks up there from then on", async () => {
    const broker = new ScriptedBroker();
    const { client, timer } = await start(broker);
    await client.createProducer({ topic: "t" });
    broker.last.tell({
      kind: "topicMigrated",
      body: { resourceId: 1n, resourceType: 0, brokerServiceUrl: "pulsar://green:7" },
    });
    await timer.advance(100);
    expect(broker.last.heardKinds()).toEqual(["connect", "lookup", "producer"]);
    expect(broker.last.endpoint.host).toBe("green");
    broker.last.cut();
    await timer.advance(1_000);
    expect(broker.open.map(({ endpoint }) => endpoint.host)).toEqual(["broker", "green"]);
    expect(broker.last.countOf("lookup")).toBe(1);
  });

  test("starts over if the broker accepts and closes the producer in the same read", async () => {
    const broker = new ScriptedBroker();
    const accept = broker.script.producer;
    broker.script.producer = (command, session, entry) => {
      const answer = accept?.(command, session, entry);
      if (accept !== undefined) broker.script.producer = accept;
      const { producerId } = command.body;
      const assignedBrokerServiceUrl = "pulsar://next:7";
      const body = { producerId, requestId: 0n, assignedBrokerServiceUrl };
      const away: Command = { kind: "closeProducer", body };
      if (answer !== undefined)
        session.link.deliver(Buffer.concat([encodeFrame(answer), encodeFrame(away)]));
      return undefined;
    };
    const { client, timer } = await start(broker);
    const opening = client.createProducer({ topic: "t" });
    const sent = opening.then((producer) => producer.send({ data: "" }));
    await timer.advance(100);
    await sent;
    expect(broker.sessions[0]?.countOf("send")).toBe(0);
    expect(broker.last.endpoint.host).toBe("next");
    expect(broker.last.heardKinds()).toEqual(["connect", "producer", "send"]);
  });

  test("ends with CLOSE_PRODUCER: no SEND follows under the closed id", async () => {
    const broker = new ScriptedBroker({ send: () => undefined });
    const { client, timer } = await start(broker);
    const taken = await client.createProducer({ topic: "t" });
    const other = await client.createProducer({ topic: "t" });
    const sent = other.send({ data: "" }).then(() => taken.send({ data: "" }));
    await timer.advance(0);
    const receipt: Command = { kind: "sendReceipt", body: { producerId: 2n, sequenceId: 0n } };
    const away: Command = { kind: "closeProducer", body: { producerId: 1n, requestId: 0n } };
    broker.last.link.deliver(Buffer.concat([encodeFrame(receipt), encodeFrame(away)]));
    await timer.advance(10);
    expect(broker.last.countOf("send")).toBe(1);
    broker.script.send = (...all) => broker.store(...all);
    await timer.advance(1_000);
    await sent;
  });

  test("fails for a name in use at first, and retries after a lost connection", async () => {
    const broker = new ScriptedBroker();
    const accept = broker.script.producer;
    const { client, timer } = await start(broker);
    const producer = await client.createProducer({ topic: "t", name: "mine" });
    broker.script.producer = ({ body: { requestId } }) => ({
      kind: "error",
      body: { requestId, error: SERVER_ERROR.ProducerBusy, message: "taken" },
    });
    await expect(client.createProducer({ topic: "t", name: "mine" })).rejects.toMatchObject({
      serverError: "ProducerBusy",
    });
    broker.last.cut();
    await timer.advance(500);
    if (accept !== undefined) broker.script.producer = accept;
    await timer.advance(1_000);
    await producer.send({ data: "" });
  });
});

describe("a shared connection", () => {
  const NO_FRAME = Buffer.from([0, 0, 0, 1, 0]);

  test("that breaks during a reattachment ends no producer", async () => {
    const broker = new ScriptedBroker();
    const { client, timer } = await start(broker);
    const producer = await client.createProducer({ topic: "t" });
    const { producer: accept } = broker.script;
    broker.script.producer = (_, session) => {
      if (accept !== undefined) broker.script.producer = accept;
      session.link.deliver(NO_FRAME);
      return undefined;
    };
    broker.last.cut();
    const sent = producer.send({ data: "" });
    await timer.advance(1_000);
    await sent;
  });

  test("is closed if the peer provokes commands and reads none", async () => {
    const broker = new ScriptedBroker({}, { unreadBytesMax: 1_000 });
    const { timer, events } = await start(broker, { token: "x".repeat(65_536) });
    const { last } = broker;
    last.link.pause();
    for (let count = 0; count < 1_000; count++) {
      last.tell({ kind: "authChallenge", body: {} });
      await timer.advance(0);
    }
    expect(last.link.unreadBytesPeak).toBeLessThan(17 * 1_048_576);
    expect(last.link.isClosed).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: "disconnected",
      reason: { message: "broker:6650 does not read what it is sent" },
    });
  });
});

describe("a client", () => {
  test.each([
    ["http://broker", {}],
    ["pulsar://broker", { tokn: "x" }],
    ["pulsar://broker", { token: 5 }],
    ["pulsar://broker", { operationTimeoutMs: 0 }],
    ["pulsar://broker", { tls: { rejectUnauthorized: false } }],
    ["pulsar://broker", { tls: { ca: "/etc/ca.pem" } }],
    ["pulsar://broker", { tls: { key: "-----BEGIN nothing-----" } }],
    ["pulsar://broker", { onEvent: "log" }],
  ])("refuses options that cannot be right: %s %j", async (url, options) => {
    await expect(connect(url, options as ClientOptions)).rejects.toMatchObject({ code: "CONFIG" });
  });

  test.each([
    [{ topic: "t", batchng: true }],
    [{ topic: "a/b" }],
    [{ topic: "t", compression: "rar" }],
    [{ topic: "t", accessMode: "mine" }],
    [{ topic: "t", batching: { messagesMax: 0 } }],
    [{ topic: "t", batching: { delayMaxMs: 30_000 } }],
    [{ topic: "t", pendingMessagesMax: 0 }],
    [{ topic: "t", partitions: { keyHash: "md5" } }],
    [{}],
    [{ topic: "t", initialSequenceId: 5 }],
    [{ topic: "t", properties: { a: 1 } }],
  ])("refuses a producer that cannot be right: %j", async (options) => {
    const { client } = await start(new ScriptedBroker());
    await expect(client.createProducer(options as never)).rejects.toMatchObject({ code: "CONFIG" });
  });

  test.skipIf("zstdCompressSync" in zlib)("refuses zstd where Node does not have it", async () => {
    const { client } = await start(new ScriptedBroker());
    const producer = client.createProducer({ topic: "t", compression: "zstd" });
    await expect(producer).rejects.toMatchObject({
      code: "CONFIG",
      message: expect.stringContaining("22.15") as string,
    });
  });

  test("that is closed opens nothing any more, and gives up what was being opened", async () => {
    const broker = new ScriptedBroker({ producer: () => undefined });
    const { client, timer } = await start(broker);
    const opening = expect(client.createProducer({ topic: "t" })).rejects.toMatchObject({
      code: "CLOSED",
    });
    await timer.advance(0);
    await client.close();
    await opening;
    await expect(client.createProducer({ topic: "t" })).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("goes on if its event listener throws", async () => {
    const trouble = new Error("not the client's problem");
    const onEvent = (): void => {
      throw trouble;
    };
    const { client } = await start(new ScriptedBroker(), { onEvent });
    const producer = await client.createProducer({ topic: "t" });
    await producer.send({ data: "" });
  });

  test("does not show its token when it is printed", async () => {
    const { client } = await start(new ScriptedBroker(), { token: "secret" });
    expect(inspect(client, { depth: Infinity, showHidden: true })).not.toContain("secret");
  });
});
