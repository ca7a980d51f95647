/** The options of NATS' connectors, without a server. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { readNatsConnection } from "../src/connector/nats/nats-connection.ts";
import { natsSink } from "../src/connector/nats/nats-sink.ts";
import type { NatsSinkOptions } from "../src/connector/nats/nats-sink.ts";
import { natsSource } from "../src/connector/nats/nats-source.ts";
import type { NatsSourceOptions } from "../src/connector/nats/nats-source.ts";
import { testContext } from "./connector-context.ts";

const SERVERS = "nats://localhost:4222";
const SOURCE = { servers: SERVERS, stream: "orders", consumer: "billing" };
const SINK = { servers: SERVERS, subject: "orders.done" };

test.each<[unknown, RegExp]>([
  [undefined, /the options of natsSource are undefined; write natsSource\(\{ servers:/],
  [{ ...SOURCE, servers: undefined }, /servers of natsSource is undefined; use addresses such as/],
  [{ ...SOURCE, servers: [] }, /servers of natsSource is an array; use addresses/],
  [{ ...SOURCE, servers: ["nats://a", ""] }, /servers of natsSource is an array; use addresses/],
  [{ ...SOURCE, stream: "" }, /stream of natsSource is ""; use a text/],
  [{ ...SOURCE, consumer: 7 }, /consumer of natsSource is 7; use a text/],
  [{ ...SOURCE, subject: "" }, /subject of natsSource is ""; use a text/],
  [{ ...SOURCE, from: "start" }, /from of natsSource is "start"; use one of beginning, end/],
  [{ ...SOURCE, ackWaitMs: 999 }, /ackWaitMs of natsSource is 999/],
  [{ ...SOURCE, ackWaitMs: 86_400_001 }, /ackWaitMs of natsSource is 86400001/],
  [{ ...SOURCE, ackPendingMax: 0 }, /ackPendingMax of natsSource is 0/],
  [{ ...SOURCE, format: "xml" }, /format of natsSource is "xml"; use one of/],
  [{ ...SOURCE, timeoutMs: 99 }, /timeoutMs of natsSource is 99/],
  [{ ...SOURCE, connection: "me:secret" }, /connection of natsSource is .*; use an object/],
  [{ ...SOURCE, ackWait: 5 }, /did you mean ackWaitMs/],
])("the options %j of a source are refused by name", (options, why) => {
  expect(() => natsSource(options as NatsSourceOptions)).toThrow(why);
});

test.each<[unknown, RegExp]>([
  [null, /the options of natsSink are null; write natsSink\(\{ servers:/],
  [{ ...SINK, subject: "" }, /subject of natsSink is ""; use a text/],
  [{ ...SINK, deduplicate: "yes" }, /deduplicate of natsSink is "yes"; use true or false/],
  [{ ...SINK, timeoutMs: 60_001 }, /timeoutMs of natsSink is 60001/],
  [{ ...SINK, stream: "orders" }, /stream/],
])("the options %j of a sink are refused by name", (options, why) => {
  expect(() => natsSink(options as NatsSinkOptions)).toThrow(why);
});

test("values are read as JSON unless the options say otherwise", () => {
  expect(natsSource(SOURCE)).toMatchObject({ kind: "nats", format: "json" });
  expect(natsSource({ ...SOURCE, format: "text" }).format).toBe("text");
  expect(natsSink(SINK).kind).toBe("nats");
});

test("a call has 5 s, and a lost server is looked for without end, unless the options say otherwise", () => {
  expect(readNatsConnection("natsSink", SINK)).toEqual({
    options: {
      servers: [SERVERS],
      timeout: 5_000,
      reconnect: true,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
    },
    timeoutMs: 5_000,
  });
  const connection = { user: "me", maxReconnectAttempts: 3, timeout: 9 };
  const own = readNatsConnection("natsSink", { ...SINK, connection, timeoutMs: 100 });
  expect(own.options).toMatchObject({ user: "me", maxReconnectAttempts: 3, timeout: 100 });
});

test("a server that is not there is told with its address", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  const servers = `nats://127.0.0.1:${port}`;
  await expect(natsSource({ ...SOURCE, servers }).open(testContext())).rejects.toThrow(
    /natsSource orders/,
  );
});
