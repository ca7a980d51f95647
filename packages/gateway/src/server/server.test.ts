import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { afterEach, expect, test } from "vitest";
import { passUntil } from "../../test/broker-world.ts";
import { HeldStore } from "../../test/held-store.ts";
import { frameBytes, RawClient } from "../../test/raw-client.ts";
import { entryOf } from "../../test/session-driver.ts";
import { Broker } from "../broker/broker.ts";
import { MemorySchemaStore } from "../storage/schema/memory-schema-store.ts";
import { SchemaRegistry } from "../schema/schema-registry.ts";
import { sessionLimits } from "../session/limits.ts";
import { connectionLimits } from "./connection-limits.ts";
import { FlushTurns } from "./flush-turns.ts";
import { Server } from "./server.ts";

/** What a test has started, ended in reverse. */
const started: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

/** A server over a store that answers when it is told to, and two clients of it, each a producer. */
async function startHeld(options: { pendingSendsMax?: number; publishBytesMax?: number }) {
  const { pendingSendsMax = 1_000, publishBytesMax = 1e9 } = options;
  const timer = new VirtualTimer();
  const held = new HeldStore();
  const world = { timer, clock: timer, wallClock: timer, random: new SeededRandom(1), nextTurn };
  const broker = new Broker({ store: held.store, ...world });
  const shared = {
    ...world,
    broker,
    schemas: new SchemaRegistry(new MemorySchemaStore()),
    turns: new FlushTurns(nextTurn),
    authenticator: undefined,
    onClosed: () => {},
    onError: (error: unknown) => {
      throw error;
    },
  };
  const limits = sessionLimits({ pendingSendsMax });
  const facts = { limits, needsToken: false, serviceUrl: undefined, serviceUrlTls: undefined };
  const connections = connectionLimits();
  const server = new Server(timer, shared, { facts, connections, publishBytesMax });
  const listener = createServer((socket) => server.accept(socket)).listen(0, "127.0.0.1");
  await once(listener, "listening");
  started.push(async () => {
    listener.close();
    held.letGo(1e6);
    await passUntil(timer, broker.close());
    await passUntil(timer, server.close());
  });
  const { port } = listener.address() as AddressInfo;
  return { held, server, one: await producerOf(port, "one"), two: await producerOf(port, "two") };
}

async function producerOf(port: number, topic: string): Promise<RawClient> {
  const client = await RawClient.connected(port);
  started.push(() => client.close());
  client.send("producer", { topic, producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  return client;
}

/** Many SENDs in one write, so that one read brings them all. */
function sends(count: number): Buffer {
  const entry = entryOf("x".repeat(76));
  return Buffer.concat(
    Array.from({ length: count }, (_, index) =>
      frameBytes({ kind: "send", body: { producerId: 1n, sequenceId: BigInt(index) } }, entry),
    ),
  );
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

test("frames that one read brought wait, too, when reading is to stop", async () => {
  const { held, server, one, two } = await startHeld({ pendingSendsMax: 10 });
  one.socket.write(sends(30));
  await until(() => held.held === 10);
  // The other client is served meanwhile, and nothing more of the first is taken.
  two.send("ping", {});
  await two.next("pong");
  expect([held.held, server.stats().pausedConnections]).toEqual([10, 1]);
  held.letGo(4);
  for (let receipt = 0; receipt < 4; receipt++) await one.next("sendReceipt");
  expect(held.held).toBe(6);
  held.letGo(1);
  await until(() => held.held === 10);
  held.letGo(30);
  await until(() => held.held === 10);
  held.letGo(30);
  await until(() => held.held === 5);
  held.letGo(30);
  for (let receipt = 4n; receipt < 30n; receipt++)
    expect((await one.next("sendReceipt")).sequenceId).toBe(receipt);
});

test("who publishes when too much is being stored waits, whoever filled it", async () => {
  const { held, server, one, two } = await startHeld({ publishBytesMax: 1_000 });
  one.socket.write(sends(30));
  await until(() => server.stats().pausedConnections === 2);
  const taken = held.held;
  two.socket.write(sends(1));
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(held.held).toBe(taken);
  expect(server.stats().pendingBytes).toBeLessThan(1_200);
  while (held.held > 0 || server.stats().pendingSends > 0) {
    held.letGo(1);
    await nextTurn();
  }
  expect((await two.next("sendReceipt")).sequenceId).toBe(0n);
  for (let receipt = 0n; receipt < 30n; receipt++)
    expect((await one.next("sendReceipt")).sequenceId).toBe(receipt);
});

test.each([{ pendingSendsMax: 1 }, { publishBytesMax: 1 }])(
  "a SEND that is refused at once does not overtake the one that it waited for, with %j",
  async (bounds) => {
    const { held, server, one } = await startHeld(bounds);
    const flawed = { producerId: 1n, sequenceId: 1n, numMessages: 0 };
    one.socket.write(
      Buffer.concat([sends(1), frameBytes({ kind: "send", body: flawed }, entryOf("x"))]),
    );
    await until(() => held.held === 1 && server.stats().pausedConnections > 0);
    held.letGo(1);
    const answers = [await one.nextAny(), await one.nextAny()];
    expect(answers.map(({ command }) => command.kind)).toEqual(["sendReceipt", "sendError"]);
  },
);

test("who is being stored while the broker closes hears of it, and nothing more is taken", async () => {
  const { held, server, one } = await startHeld({});
  one.socket.write(sends(3));
  await until(() => held.held === 3);
  const stopped = server.stopReading();
  one.socket.write(sends(1));
  held.letGo(1);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(held.held).toBe(2);
  held.letGo(2);
  await stopped;
  for (let receipt = 0n; receipt < 3n; receipt++)
    expect((await one.next("sendReceipt")).sequenceId).toBe(receipt);
  expect(held.held).toBe(0);
});
