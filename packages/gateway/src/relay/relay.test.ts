/** What a relay does with each kind of command, in both directions. */
import fc from "fast-check";
import {
  decodeFrame,
  encodeFrameHead,
  LOOKUP_RESULT,
  NO_ID,
  ThrottleCodec,
} from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { bytesOf, RelayDriver } from "../../test/relay-driver.ts";
import { entryOf } from "../../test/session-driver.ts";
import { decodeClientFrame } from "./relay-commands.ts";
import type { BrokerFrame, ClientFrame } from "./relay-commands.ts";
import { WAITING_BYTES_MAX } from "./frames/waiting-frames.ts";

/** With a field, 200, that no version of Pulsar has. */
const FUTURE = Buffer.from([0, 0, 0, 11, 0, 0, 0, 7, 8, 91, 0xda, 0x05, 2, 8, 1]);

const OWNER = "pulsar://broker-7:6650";

function openProducer(driver: RelayDriver, id = 1n, topic = "t"): void {
  driver.receive("producer", { topic, producerId: id, requestId: 100n + id });
  driver.receiveUpstream("producerSuccess", { requestId: 100n + id, producerName: "p" });
  driver.sent();
  driver.passed();
}

function send(driver: RelayDriver, sequenceId: bigint, producerId = 1n): void {
  driver.receive("send", { producerId, sequenceId, numMessages: 1 }, entryOf("x"));
}

function kindsOf(commands: readonly { readonly kind: string }[]): string[] {
  return commands.map(({ kind }) => kind);
}

/** A command of this type, and nothing else. */
function unknownFrame(type: number): Buffer {
  const varint = type < 128 ? [type] : [(type & 0x7f) | 0x80, type >> 7];
  const command = [8, ...varint];
  return Buffer.from([0, 0, 0, command.length + 4, 0, 0, 0, command.length, ...command]);
}

/** What the commands behind held SENDs keep now. */
function waitingBytes(driver: RelayDriver): number {
  return driver.wantedOf("waitingBytes").at(-1)?.bytes ?? 0;
}

/** A command of a producer whose frame has about so many bytes. */
function sendAny(driver: RelayDriver, kind: string, producerId: bigint, bytes: number): void {
  const entry = Buffer.alloc(bytes, "x");
  if (kind === "producer")
    driver.receive("producer", { topic: "t", producerId, requestId: 1n }, entry);
  else if (kind === "closeProducer")
    driver.receive("closeProducer", { producerId, requestId: 2n }, entry);
  else driver.receive("send", { producerId, sequenceId: 1n, numMessages: 1 }, entry);
}

/** The answer that the client gets to a lookup, if it gets one. */
function answered(
  driver: RelayDriver,
  answer: Partial<CommandBodies["lookupResponse"]>,
): CommandBodies["lookupResponse"] | undefined {
  driver.receive("lookup", { topic: "t", requestId: 1n });
  const response = LOOKUP_RESULT.connect;
  driver.receiveUpstream("lookupResponse", {
    requestId: 1n,
    response,
    brokerServiceUrl: OWNER,
    ...answer,
  });
  const [command] = driver.sent();
  return command?.kind === "lookupResponse" ? command.body : undefined;
}

describe("the handshake", () => {
  test("passes CONNECT on as it came, with the client's credentials", () => {
    const driver = new RelayDriver();
    const body = {
      clientVersion: "any",
      authMethodName: "token",
      authData: Buffer.from("secret"),
      originalPrincipal: "somebody",
    };
    driver.receive("connect", body);
    expect(driver.wantedOf("dial")).toEqual([{ kind: "dial", target: undefined }]);
    expect(driver.relay.isReading).toBe(false);
    driver.on({ kind: "upstreamConnected", names: [] });
    const [frame] = driver.passedFrames();
    expect(frame?.bytes).toEqual(bytesOf({ kind: "connect", body }));
  });

  test("connects to the broker that CONNECT names, and does not tell it so", () => {
    const driver = new RelayDriver();
    driver.receive("connect", { clientVersion: "any", proxyToBrokerUrl: "broker-7:6650" });
    const target = { host: "broker-7", port: 6650 };
    expect(driver.wantedOf("dial")).toEqual([{ kind: "dial", target }]);
    driver.on({ kind: "upstreamConnected", names: [target] });
    expect(driver.passed()).toEqual([{ kind: "connect", body: { clientVersion: "any" } }]);
  });

  test.each(["", "broker", "broker:x", "user@broker:6650", "a:1,b:2", "pulsar://b:1", "b:99999"])(
    "refuses the broker %j, which is no address",
    (proxyToBrokerUrl) => {
      const driver = new RelayDriver();
      driver.receive("connect", { clientVersion: "any", proxyToBrokerUrl });
      expect(driver.wantedOf("dial")).toEqual([]);
      expect(driver.sent()).toMatchObject([{ kind: "error", body: { requestId: NO_ID } }]);
      expect(driver.closeReason).toContain("host:6650");
    },
  );

  test("relays challenges and their answers, before CONNECTED and after it", () => {
    const driver = new RelayDriver();
    const challenge = { challenge: { authMethodName: "sasl", authData: Buffer.from("1") } };
    driver.receive("connect", { clientVersion: "any" });
    driver.on({ kind: "upstreamConnected", names: [] });
    driver.receiveUpstream("authChallenge", challenge);
    expect(driver.relay.isReading).toBe(true);
    driver.receive("authResponse", { response: { authData: Buffer.from("2") } });
    expect(driver.relay.isReading).toBe(false);
    driver.receiveUpstream("connected", { serverVersion: "b" });
    driver.receiveUpstream("authChallenge", challenge);
    driver.receive("authResponse", { response: { authData: Buffer.from("3") } });
    expect(kindsOf(driver.passed())).toEqual(["connect", "authResponse", "authResponse"]);
    expect(kindsOf(driver.sent())).toEqual(["authChallenge", "connected", "authChallenge"]);
    expect(driver.closeReason).toBeUndefined();
  });

  test("a redirected lookup is asked with the credentials that the client sent last", () => {
    const connect = { authMethodName: "token", authData: Buffer.from("first") };
    const driver = RelayDriver.connected({ lookup: "own-address" }, connect);
    driver.receive("authResponse", { response: { authData: Buffer.from("fresh") } });
    expect(kindsOf(driver.passed())).toEqual(["authResponse"]);
    driver.receive("lookup", { topic: "t", requestId: 1n });
    const response = LOOKUP_RESULT.redirect;
    driver.receiveUpstream("lookupResponse", { requestId: 1n, response, brokerServiceUrl: OWNER });
    const [follow] = driver.wantedOf("follow");
    const { command } = decodeFrame(follow?.connect ?? Buffer.alloc(0));
    expect(command).toMatchObject({
      kind: "connect",
      body: { clientVersion: "test", authMethodName: "token", authData: Buffer.from("fresh") },
    });
  });

  test("a throttle command of the broker ends here, and other unknown commands go on", () => {
    const driver = RelayDriver.connected();
    const { throttleProducer, throttleProducerReceipt } = new ThrottleCodec().numbers;
    for (const type of [throttleProducer, throttleProducerReceipt, 90])
      driver.receiveUpstreamBytes(unknownFrame(type));
    expect(driver.sent()).toMatchObject([{ kind: "unknown", type: 90 }]);
  });

  test("hands the broker's refusal over and ends", () => {
    const driver = new RelayDriver();
    driver.receive("connect", { clientVersion: "any" });
    driver.on({ kind: "upstreamConnected", names: [] });
    driver.receiveUpstream("error", { requestId: NO_ID, error: 3, message: "bad token" });
    expect(driver.sent()).toMatchObject([{ kind: "error", body: { error: 3 } }]);
    expect(driver.closeReason).toContain("bad token");
  });

  test("takes the largest frame from CONNECTED", () => {
    const driver = new RelayDriver();
    driver.receive("connect", { clientVersion: "any" });
    driver.on({ kind: "upstreamConnected", names: [] });
    driver.receiveUpstream("connected", { serverVersion: "b", maxMessageSize: 1_000 });
    expect(driver.wantedOf("setFrameBytesMax")).toMatchObject([{ bytes: 11_240 }]);
  });

  test.each([
    [4_999, undefined],
    [5_000, "no CONNECT"],
  ])("gives a client that says nothing until %i ms", (atMs, reason) => {
    const driver = new RelayDriver();
    driver.tick(atMs);
    if (reason === undefined) expect(driver.closeReason).toBeUndefined();
    else expect(driver.closeReason).toContain(reason);
  });

  test("tells the client of a broker that cannot be reached, or does not answer", () => {
    const unreachable = new RelayDriver();
    unreachable.receive("connect", { clientVersion: "any" });
    unreachable.on({ kind: "upstreamFailed", reason: "nobody listens" });
    expect(unreachable.sent()).toMatchObject([{ kind: "error", body: { error: 6 } }]);
    const silent = new RelayDriver();
    silent.receive("connect", { clientVersion: "any" });
    silent.tick(30_000);
    expect(silent.sent()).toMatchObject([{ kind: "error", body: { error: 6 } }]);
    expect(silent.closeReason).toContain("no answer");
  });

  test("ends a client that sends before CONNECTED, or CONNECT twice", () => {
    const early = new RelayDriver();
    early.receive("producer", { topic: "t", producerId: 1n, requestId: 1n });
    expect(early.closeReason).toContain("before CONNECTED");
    const twice = RelayDriver.connected();
    twice.receive("connect", { clientVersion: "any" });
    expect(twice.closeReason).toBe("a second CONNECT");
    expect(twice.passed()).toEqual([]);
  });
});

describe("our own flag and commands", () => {
  const throttle = new ThrottleCodec();

  test("do not reach the broker", () => {
    const driver = new RelayDriver({ hasNotices: true });
    const featureFlags = throttle.announceIn({ supportsAuthRefresh: true });
    driver.receive("connect", { clientVersion: "any", featureFlags });
    driver.on({ kind: "upstreamConnected", names: [] });
    const [connect] = driver.passed();
    expect(connect).toMatchObject({ body: { featureFlags: { supportsAuthRefresh: true } } });
    const { body } = connect as { body: CommandBodies["connect"] };
    expect(throttle.isAnnouncedIn(body.featureFlags)).toBe(false);
    driver.receiveUpstream("connected", { serverVersion: "b" });
    const frame = bytesOf(
      throttle.encode({ kind: "throttleProducerReceipt", body: { requestId: 1n } }),
    );
    driver.on({ kind: "frame", frame: decodeClientFrame(frame) });
    expect(driver.passed()).toEqual([]);
    expect(driver.closeReason).toBeUndefined();
  });

  test.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])(
    "with notices %s and a client that knows them %s, CONNECTED announces them: %s",
    (hasNotices, knows, is) => {
      const driver = new RelayDriver({ hasNotices });
      driver.receive("connect", {
        clientVersion: "any",
        featureFlags: knows ? throttle.announceIn({}) : {},
      });
      driver.on({ kind: "upstreamConnected", names: [] });
      // An upstream that announces its own has not been asked by us.
      const featureFlags = throttle.announceIn({ supportsTopicWatchers: true });
      driver.receiveUpstream("connected", { serverVersion: "b", featureFlags });
      const [connected] = driver.sent() as { body: CommandBodies["connected"] }[];
      expect(throttle.isAnnouncedIn(connected?.body.featureFlags)).toBe(is);
      expect(connected?.body.featureFlags?.supportsTopicWatchers).toBe(true);
      driver.on({
        kind: "notice",
        notice: { requestId: 1n, producerId: 1n, reason: "topic-rate", pauseMs: 5 },
      });
      expect(driver.sent()).toHaveLength(is ? 1 : 0);
    },
  );
});

describe("frames", () => {
  test("of types that nobody knows yet go through byte by byte, in both directions", () => {
    const driver = RelayDriver.connected();
    driver.on({ kind: "frame", frame: decodeClientFrame(FUTURE) });
    driver.receiveUpstreamBytes(FUTURE);
    expect(driver.passedFrames()[0]?.bytes).toBe(FUTURE);
    expect(driver.sentFrames()[0]?.bytes).toBe(FUTURE);
  });

  test("go through also if more of them was decoded than a relay looks into", () => {
    const driver = RelayDriver.connected();
    const asked = bytesOf({ kind: "partitionedMetadata", body: { topic: "t", requestId: 1n } });
    const answer = bytesOf({ kind: "partitionedMetadataResponse", body: { requestId: 1n } });
    driver.on({ kind: "frame", frame: decodeFrame(asked) as ClientFrame });
    driver.on({ kind: "upstreamFrame", frame: decodeFrame(answer) as BrokerFrame });
    expect(driver.passedFrames()[0]?.bytes).toBe(asked);
    expect(driver.sentFrames()[0]?.bytes).toBe(answer);
  });

  test("with an entry go through without a copy", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    const entry = entryOf("body");
    const body = { producerId: 1n, sequenceId: 1n, numMessages: 1 };
    const bytes = bytesOf({ kind: "send", body }, entry);
    driver.on({ kind: "frame", frame: decodeClientFrame(bytes) });
    expect(driver.passedFrames()[0]?.bytes).toBe(bytes);
    const message = { consumerId: 1n, messageId: { ledgerId: 1n, entryId: 1n } };
    const delivered = Buffer.concat([
      encodeFrameHead({ kind: "message", body: message }, entry.length),
      entry,
    ]);
    driver.receiveUpstreamBytes(delivered);
    expect(driver.sentFrames()[0]?.bytes).toBe(delivered);
  });
});

describe("lookups", () => {
  test("send clients back to us, with the address of the broker", () => {
    const driver = RelayDriver.connected();
    expect(answered(driver, {})).toMatchObject({
      brokerServiceUrl: OWNER,
      brokerServiceUrlTls: OWNER,
      proxyThroughServiceUrl: true,
    });
    const target = { host: "broker-7", port: 6650 };
    expect(driver.wantedOf("named")).toEqual([{ kind: "named", target }]);
  });

  test("name the broker's TLS address if the upstream has TLS, and say so if there is none", () => {
    const options = { isUpstreamTls: true };
    const tls = "pulsar+ssl://broker-7:6651";
    expect(answered(RelayDriver.connected(options), { brokerServiceUrlTls: tls })).toMatchObject({
      brokerServiceUrl: tls,
      brokerServiceUrlTls: tls,
    });
    expect(answered(RelayDriver.connected(options), {})).toMatchObject({
      response: LOOKUP_RESULT.failed,
      message: expect.stringContaining("TLS") as string,
    });
  });

  test.each([
    ["own-address", "any"],
    ["auto", "Pulsar-Flex Nodejs Client v0.0.0"],
  ] as const)("in style %s send %s to our own address", (lookup, clientVersion) => {
    const driver = RelayDriver.connected({ lookup }, { clientVersion });
    const own = { brokerServiceUrl: "pulsar://gateway:6650", proxyThroughServiceUrl: false };
    expect(answered(driver, { brokerServiceUrl: "pulsar://broker:6650" })).toMatchObject(own);
    // A standalone broker names itself by whatever name it has.
    expect(answered(driver, { proxyThroughServiceUrl: true })).toMatchObject(own);
    // Another broker cannot be reached by this client.
    const other = answered(driver, {});
    expect(other).toMatchObject({ response: LOOKUP_RESULT.failed });
    expect(other?.message).toContain("broker-7:6650 serves the topic");
  });

  test("that are redirected are followed here, and answered once", () => {
    const driver = RelayDriver.connected();
    expect(
      answered(driver, { response: LOOKUP_RESULT.redirect, authoritative: true }),
    ).toBeUndefined();
    expect(driver.wantedOf("follow")).toMatchObject([
      { lookup: { topic: "t", authoritative: true }, target: { host: "broker-7" } },
    ]);
    const url = "pulsar://broker-8:6650";
    const answer = { requestId: 1n, response: LOOKUP_RESULT.connect, brokerServiceUrl: url };
    driver.on({ kind: "followed", answer });
    driver.on({ kind: "followed", answer });
    expect(driver.sent()).toMatchObject([
      { body: { brokerServiceUrl: url, proxyThroughServiceUrl: true } },
    ]);
  });

  test("that fail are answered as the broker did", () => {
    const driver = RelayDriver.connected();
    const failed = { response: LOOKUP_RESULT.failed, error: 11, message: "none" };
    expect(answered(driver, failed)).toMatchObject(failed);
  });

  test("without answers stop the reading of a client that asks for more and more", () => {
    const driver = RelayDriver.connected();
    for (let requestId = 1n; requestId <= 1_000n; requestId++)
      driver.receive("lookup", { topic: "t", requestId });
    expect(driver.relay.isReading).toBe(false);
    for (let requestId = 1n; requestId <= 500n; requestId++)
      driver.receiveUpstream("lookupResponse", { requestId, response: LOOKUP_RESULT.failed });
    expect(driver.relay.isReading).toBe(true);
  });
});

describe("addresses in other commands", () => {
  test("are taken out of CLOSE_PRODUCER and CLOSE_CONSUMER: clients come back by a lookup", () => {
    const driver = RelayDriver.connected();
    const assigned = { assignedBrokerServiceUrl: OWNER, assignedBrokerServiceUrlTls: OWNER };
    driver.receiveUpstream("closeProducer", { producerId: 1n, requestId: NO_ID, ...assigned });
    driver.receiveUpstream("closeConsumer", { consumerId: 1n, requestId: NO_ID, ...assigned });
    expect(driver.sent()).toEqual([
      { kind: "closeProducer", body: { producerId: 1n, requestId: NO_ID } },
      { kind: "closeConsumer", body: { consumerId: 1n, requestId: NO_ID } },
    ]);
  });

  test("are ours in TOPIC_MIGRATED, and an operator hears where the topic went", () => {
    const driver = RelayDriver.connected();
    openProducer(driver, 1n, "persistent://public/default/t");
    driver.receiveUpstream("topicMigrated", {
      resourceId: 1n,
      resourceType: 0,
      brokerServiceUrl: "pulsar://new-cluster:6650",
    });
    expect(driver.sent()).toMatchObject([{ body: { brokerServiceUrl: "pulsar://gateway:6650" } }]);
    expect(driver.wantedOf("topicMigrated")).toEqual([
      {
        kind: "topicMigrated",
        topic: "persistent://public/default/t",
        url: "pulsar://new-cluster:6650",
      },
    ]);
  });
});

describe("a producer", () => {
  test("whose SENDs are held does not keep others, or other commands, from passing", () => {
    const driver = RelayDriver.connected();
    openProducer(driver, 1n, "slow");
    openProducer(driver, 2n, "fast");
    driver.admission.heldTopics.add("slow");
    send(driver, 1n, 1n);
    send(driver, 2n, 2n);
    driver.on({ kind: "frame", frame: decodeClientFrame(FUTURE) });
    expect(kindsOf(driver.passed())).toEqual(["send", "unknown"]);
    expect(driver.relay.isReading).toBe(true);
  });

  test("is closed and opened again after its held SENDs, and those of the new one come last", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    driver.admission.heldTopics.add("t");
    send(driver, 1n);
    driver.receive("closeProducer", { producerId: 1n, requestId: 7n });
    driver.receive("producer", { topic: "t", producerId: 1n, requestId: 8n });
    send(driver, 2n);
    expect(driver.passed()).toEqual([]);
    driver.admission.heldTopics.clear();
    driver.release();
    expect(kindsOf(driver.passed())).toEqual(["send", "closeProducer", "producer", "send"]);
  });

  test("that the broker closes loses what it held: the client sends it again", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    driver.admission.heldTopics.add("t");
    send(driver, 1n);
    driver.receiveUpstream("closeProducer", { producerId: 1n, requestId: NO_ID });
    expect(driver.admission.held).toEqual([]);
    // Sent before the client heard of it.
    send(driver, 2n);
    expect(driver.passed()).toEqual([]);
    expect(driver.closeReason).toBeUndefined();
  });

  test("that is not open ends the connection with a SEND: no limit would hold for it", () => {
    const driver = RelayDriver.connected();
    send(driver, 1n);
    expect(driver.closeReason).toContain("not open");
    expect(driver.passed()).toEqual([]);
  });

  test("cannot be lost to the limits by a request id that is used twice", () => {
    const driver = RelayDriver.connected();
    driver.receive("subscribe", {
      topic: "bad",
      subscription: "s",
      subType: 0,
      consumerId: 1n,
      requestId: 7n,
    });
    driver.receive("producer", { topic: "t", producerId: 1n, requestId: 7n });
    driver.receiveUpstream("error", { requestId: 7n, error: 11, message: "no topic" });
    driver.receiveUpstream("producerSuccess", { requestId: 7n, producerName: "p" });
    // The broker has it open; another topic for the same id would have other limits.
    driver.receive("producer", { topic: "free", producerId: 1n, requestId: 7n });
    expect(driver.sent().at(-1)).toMatchObject({ kind: "error", body: { error: 22 } });
    driver.passed();
    send(driver, 1n);
    expect(driver.passed()).toEqual([]);
    driver.receive("producer", { topic: "t", producerId: 1n, requestId: 8n });
    driver.receiveUpstream("producerSuccess", { requestId: 8n, producerName: "p" });
    expect(driver.relay.producers).toBe(1);
  });

  test("one too many is refused here", () => {
    const driver = RelayDriver.connected({ limits: { producersMax: 1, consumersMax: 1 } });
    openProducer(driver);
    driver.receive("producer", { topic: "t", producerId: 2n, requestId: 9n });
    expect(driver.sent()).toMatchObject([{ kind: "error", body: { requestId: 9n, error: 14 } }]);
    expect(driver.passed()).toEqual([]);
  });

  test.each([0, -1, 100_001])(
    "that says it sends %i messages at once ends its connection",
    (numMessages) => {
      const driver = RelayDriver.connected();
      openProducer(driver);
      driver.receive("send", { producerId: 1n, sequenceId: 1n, numMessages }, entryOf("x"));
      expect(driver.closeReason).toContain("messages");
    },
  );

  test("is charged for the messages in its entry, if its SEND says fewer; a larger count of the SEND stands", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    const entries = [entryOf("x", 1_000), entryOf("x", 10), entryOf("x"), Buffer.from("broken")];
    for (const [index, entry] of entries.entries())
      driver.receive(
        "send",
        { producerId: 1n, sequenceId: BigInt(index), numMessages: index === 1 ? 50 : undefined },
        entry,
      );
    expect(driver.admission.messages).toBe(1_000 + 50 + 1 + 1);
    expect(driver.closeReason).toBeUndefined();
    driver.receive("send", { producerId: 1n, sequenceId: 9n }, entryOf("x", 100_001));
    expect(driver.closeReason).toContain("a SEND of 100001 messages");
  });

  test("that sends late is not missed after the broker has closed a thousand producers", () => {
    const driver = RelayDriver.connected();
    for (let id = 1n; id <= 1_000n; id++) openProducer(driver, id);
    for (let producerId = 1n; producerId <= 1_000n; producerId++)
      driver.receiveUpstream("closeProducer", { producerId, requestId: NO_ID });
    send(driver, 1n, 1n);
    expect(driver.closeReason).toBeUndefined();
  });

  test("has as many commands behind held SENDs as the bound says, then the client waits", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    driver.admission.heldTopics.add("t");
    send(driver, 1n);
    let closes = 0;
    for (; driver.relay.isReading && closes < 10_000; closes++)
      driver.receive("closeProducer", { producerId: 1n, requestId: BigInt(closes) });
    expect(driver.relay.isReading).toBe(false);
    expect(closes).toBeGreaterThan(100);
    driver.release();
    expect(driver.relay.isReading).toBe(true);
    expect(driver.passed()).toHaveLength(1 + closes);
    expect(waitingBytes(driver)).toBe(0);
  });

  test("that sends after its own CLOSE_PRODUCER ends the connection, and the SEND is not kept", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    driver.admission.heldTopics.add("t");
    send(driver, 1n);
    driver.receive("closeProducer", { producerId: 1n, requestId: 2n });
    const before = waitingBytes(driver);
    driver.receive(
      "send",
      { producerId: 1n, sequenceId: 2n, numMessages: 1 },
      Buffer.alloc(1_000_000),
    );
    expect(driver.closeReason).toContain("after its CLOSE_PRODUCER");
    expect(waitingBytes(driver)).toBe(before);
  });

  test("leaves no chunk in memory when its commands wait behind held SENDs", () => {
    const driver = RelayDriver.connected();
    openProducer(driver);
    driver.admission.heldTopics.add("t");
    send(driver, 1n);
    const bytes = bytesOf({ kind: "closeProducer", body: { producerId: 1n, requestId: 2n } });
    const chunk = Buffer.concat([bytes, Buffer.alloc(1_000_000)]);
    const frame = decodeClientFrame(chunk.subarray(0, bytes.length));
    driver.on({ kind: "frame", frame });
    expect(waitingBytes(driver)).toBeLessThan(1_000);
  });

  test("keeps a bounded number of bytes behind held SENDs, whatever it sends for whichever ids", () => {
    const command = fc.record({
      kind: fc.constantFrom("producer", "send", "closeProducer"),
      producerId: fc.bigInt(1n, 20n),
      bytes: fc.constantFrom(0, 1_000, 100_000),
      repeat: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const driver = RelayDriver.connected();
        driver.admission.heldTopics.add("t");
        for (let id = 1n; id <= 20n; id++) {
          openProducer(driver, id);
          send(driver, id, id);
        }
        for (const { kind, producerId, bytes, repeat } of commands)
          for (let count = 0; count < repeat && driver.relay.isReading; count++)
            sendAny(driver, kind, producerId, bytes);
        const most = Math.max(0, ...driver.wantedOf("waitingBytes").map((one) => one.bytes));
        expect(most).toBeLessThan(WAITING_BYTES_MAX + 101_000);
      }),
    );
  });
});

test("consumers are known from SUBSCRIBE until either side closes them", () => {
  const driver = RelayDriver.connected({ limits: { consumersMax: 2 } });
  const subscribe = (consumerId: bigint, requestId: bigint): void =>
    driver.receive("subscribe", {
      topic: "t",
      subscription: "s",
      subType: 1,
      consumerId,
      requestId,
    });
  subscribe(1n, 1n);
  subscribe(2n, 2n);
  subscribe(3n, 3n);
  expect(driver.sent()).toMatchObject([{ kind: "error", body: { requestId: 3n } }]);
  driver.receiveUpstream("success", { requestId: 1n });
  driver.receiveUpstream("error", { requestId: 2n, error: 5, message: "busy" });
  expect(driver.relay.consumers).toBe(1);
  driver.receive("unsubscribe", { consumerId: 1n, requestId: 4n });
  driver.receiveUpstream("error", { requestId: 4n, error: 1, message: "no" });
  expect(driver.relay.consumers).toBe(1);
  driver.receive("closeConsumer", { consumerId: 1n, requestId: 5n });
  driver.receiveUpstream("success", { requestId: 5n });
  expect(driver.relay.consumers).toBe(0);
  subscribe(4n, 6n);
  driver.receiveUpstream("success", { requestId: 6n });
  driver.receiveUpstream("closeConsumer", { consumerId: 4n, requestId: NO_ID });
  expect(driver.relay.consumers).toBe(0);
});

describe("life", () => {
  test("PINGs are answered here, on both sides, and PONGs go no further", () => {
    const driver = RelayDriver.connected();
    driver.receive("ping", {});
    driver.receive("pong", {});
    driver.receiveUpstream("ping", {});
    driver.receiveUpstream("pong", {});
    expect(kindsOf(driver.sent())).toEqual(["pong"]);
    expect(kindsOf(driver.passed())).toEqual(["pong"]);
  });

  test("both sides are asked for a sign of life, and a broker that gives none for 60 s is lost", () => {
    const driver = RelayDriver.connected();
    driver.tick(30_000);
    expect(kindsOf(driver.sent())).toEqual(["ping"]);
    expect(kindsOf(driver.passed())).toEqual(["ping"]);
    driver.nowMs = 59_000;
    driver.receive("pong", {});
    driver.tick(60_000);
    expect(driver.wantedOf("upstreamLost")).toHaveLength(1);
    expect(driver.closeReason).toContain("its broker is gone");
  });

  test("the client is closed with its broker, and the broker's connection with its client", () => {
    const driver = RelayDriver.connected();
    driver.on({ kind: "upstreamClosed", reason: "reset" });
    expect(driver.closeReason).toContain("reset");
    const other = RelayDriver.connected();
    other.on({ kind: "end" });
    expect(other.wantedOf("closeUpstream")).toHaveLength(1);
  });
});

describe("back-pressure", () => {
  const limits = { outboundHighBytes: 100, outboundLowBytes: 50, unwritableMs: 1_000 };

  test("a client that does not read stops its broker, and one that takes nothing is closed", () => {
    const driver = RelayDriver.connected({ limits });
    driver.on({ kind: "written", answerBytes: 0, unreadBytes: 100 });
    expect(driver.relay.isReadingUpstream).toBe(false);
    expect(driver.relay.isReading).toBe(true);
    driver.on({ kind: "taken", unreadBytes: 50 });
    expect(driver.relay.isReadingUpstream).toBe(true);
    driver.on({ kind: "written", answerBytes: 0, unreadBytes: 100 });
    driver.tick(1_000);
    expect(driver.closeReason).toContain("took no byte");
  });

  test("a broker that does not read stops its client, and one that takes nothing is lost", () => {
    const driver = RelayDriver.connected({ limits });
    driver.on({ kind: "upstreamWritten", unreadBytes: 100 });
    expect(driver.relay.isReading).toBe(false);
    expect(driver.relay.isReadingUpstream).toBe(true);
    driver.on({ kind: "upstreamTaken", unreadBytes: 50 });
    expect(driver.relay.isReading).toBe(true);
    driver.on({ kind: "upstreamWritten", unreadBytes: 100 });
    driver.tick(1_000);
    expect(driver.wantedOf("upstreamLost")).toHaveLength(1);
  });

  test("a client that does not read the answers to its PINGs is not heard either", () => {
    const driver = RelayDriver.connected({ limits });
    driver.on({ kind: "written", answerBytes: 100, unreadBytes: 100 });
    driver.on({ kind: "written", answerBytes: 100, unreadBytes: 200 });
    expect(driver.relay.isReading).toBe(false);
    driver.on({ kind: "taken", unreadBytes: 0 });
    expect(driver.relay.isReading).toBe(true);
  });

  test("reading stops while any reason holds, and goes on after the last", () => {
    const driver = RelayDriver.connected({ limits });
    driver.on({ kind: "throttled", reason: "topic-rate" });
    driver.on({ kind: "throttled", reason: "memory" });
    driver.on({ kind: "unthrottled", reason: "topic-rate" });
    expect(driver.relay.isReading).toBe(false);
    driver.on({ kind: "unthrottled", reason: "memory" });
    expect(driver.relay.isReading).toBe(true);
  });
});
