import { afterEach, describe, expect, test } from "vitest";
import type { ClientOptions } from "../src/client/api/client-options.ts";
import { ThrottleCodec } from "../src/wire/throttle.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { closeAll, produce, start, TOPIC } from "./throttled-producer.ts";
import { CODEC, producerIdOf, receiptsOf, throttle } from "./throttling-broker.ts";

afterEach(closeAll);

/** Everything that a broker without PIP-385 hears and a client tells, in a program with a lost connection. */
async function heardBy(options: ClientOptions): Promise<unknown> {
  const broker = new ScriptedBroker();
  broker.partitions.set(TOPIC, 2);
  const { client, timer, events } = await start(broker, options);
  const producer = await client.createProducer({ topic: "orders", batching: true });
  const sends = Array.from({ length: 50 }, (_, index) => producer.send({ data: `${index}` }));
  await timer.advance(5);
  broker.last.cut();
  sends.push(producer.send({ data: "after" }));
  await timer.advance(1_000);
  await Promise.all(sends);
  expect(producer.throttling).toBeUndefined();
  expect(producer.stats()).toEqual({ throttledMs: {} });
  const heard = broker.sessions.map((session) =>
    session.heard.filter(({ kind }) => kind !== "connect"),
  );
  return { heard, events, stored: broker.stored };
}

describe("the connection", () => {
  test.each<[options: ClientOptions, isDefault: boolean, isOther: boolean]>([
    [{}, true, false],
    [{ throttle: true }, true, false],
    [{ throttle: false }, false, false],
    [{ throttle: { featureFlag: 1005 } }, false, true],
  ])("with %j announces the flag with the given number or not at all", async (options, ...is) => {
    const broker = new ScriptedBroker();
    await start(broker, options);
    const [connect] = broker.last.heard;
    if (connect?.kind !== "connect") throw new Error("CONNECT is missing");
    const { featureFlags } = connect.body;
    expect(featureFlags).toMatchObject({ supportsAuthRefresh: true });
    const other = new ThrottleCodec({ featureFlag: 1005 });
    expect([CODEC.isAnnouncedIn(featureFlags), other.isAnnouncedIn(featureFlags)]).toEqual(is);
  });

  test("sends a receipt at once, also for a producer that does not exist, to a broker that announced nothing", async () => {
    const { broker, timer } = await produce();
    for (const [requestId, producerId] of [
      [7n, producerIdOf(broker.last, TOPIC)],
      [8n, 99n],
      [2n ** 64n - 1n, 2n ** 64n - 1n],
    ] as const)
      throttle(broker.last, { requestId, producerId, reason: "topic-rate", pauseMs: 1 });
    await timer.advance(0);
    expect(receiptsOf(broker.last)).toEqual([7n, 8n, 2n ** 64n - 1n]);
  });

  test("sends receipts that came due while it was not writable once it is writable", async () => {
    const broker = new ScriptedBroker({}, { unreadBytesMax: 1_000 });
    const { producer, timer } = await produce({}, broker);
    const { link } = broker.last;
    link.pause();
    producer.send({ data: Buffer.alloc(2_000) }).catch(() => undefined);
    await timer.advance(0);
    // More producers than replies fit: the rest gets no receipt, and the connection stays open.
    for (let requestId = 1n; requestId <= 1_500n; requestId++)
      throttle(broker.last, { requestId, producerId: 99n, reason: "memory", pauseMs: 0 });
    await timer.advance(0);
    expect(receiptsOf(broker.last)).toEqual([]);
    link.resume();
    await timer.advance(0);
    expect(receiptsOf(broker.last)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => BigInt(index + 1)),
    );
    expect(broker.open).toHaveLength(1);
  });

  test("is closed by a command without a body, as by any other that breaks the protocol", async () => {
    const { broker, timer, events } = await produce();
    const { type } = CODEC.encode({ kind: "throttleProducerReceipt", body: { requestId: 1n } });
    const bytes = Buffer.from([8, ((type - 1) & 127) | 128, (type - 1) >>> 7]);
    broker.last.tell({ kind: "unknown", type: type - 1, bytes });
    await timer.advance(0);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "disconnected",
        reason: expect.objectContaining({ code: "PROTOCOL" }) as unknown,
      }),
    );
  });

  test("ignores a receipt, which only brokers get", async () => {
    const { broker, timer, events } = await produce();
    broker.last.tell(CODEC.encode({ kind: "throttleProducerReceipt", body: { requestId: 1n } }));
    await timer.advance(0);
    expect(broker.open).toHaveLength(1);
    expect(events.map(({ type }) => type)).toEqual(["connected"]);
  });

  test("with throttle: false does not know the command: no pause and no receipt", async () => {
    const broker = new ScriptedBroker();
    const { client, timer, events } = await start(broker, { throttle: false });
    const producer = await client.createProducer({ topic: "orders" });
    const producerId = producerIdOf(broker.last, TOPIC);
    throttle(broker.last, { producerId, reason: "topic-rate", pauseMs: 1_000 });
    await timer.advance(0);
    await producer.send({ data: "" });
    expect(producer.isThrottled).toBe(false);
    expect(receiptsOf(broker.last)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "unknownCommand", commandType: 1001 });
  });

  test("to a broker that does not know the commands behaves as if they did not exist", async () => {
    expect(await heardBy({})).toEqual(await heardBy({ throttle: false }));
  });
});
