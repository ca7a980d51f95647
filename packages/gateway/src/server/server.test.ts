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
import type { BrokerEvent } from "../observe/broker-event.ts";
import { CountedByteBudget } from "../memory/counted-byte-budget.ts";
import { sessionLimits } from "../session/limits.ts";
import { Dispatch } from "../ingress/dispatch/dispatch.ts";
import { Ingress } from "../ingress/ingress.ts";
import { EmbeddedBackend } from "./embedded/embedded-backend.ts";
import { keepPublish } from "./embedded/held-publish.ts";
import type { HeldPublish } from "./embedded/held-publish.ts";
import { Server } from "./server.ts";

const MIB = 1024 * 1024;

/** What a test has started, ended in reverse. */
const started: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

function observe(event: BrokerEvent): void {
  if (event.kind === "error") throw event.error;
}

/** A server over a store that answers when it is told to, and two clients of it, each a producer. */
async function startHeld(options: { pendingSendsMax?: number; memoryBytesMax?: number }) {
  const { pendingSendsMax = 1_000, memoryBytesMax = 1e9 } = options;
  const timer = new VirtualTimer();
  const held = new HeldStore();
  const world = { timer, clock: timer, wallClock: timer, random: new SeededRandom(1), nextTurn };
  const broker = new Broker({ store: held.store, ...world });
  const memory = new CountedByteBudget(memoryBytesMax, () => {});
  const { schemas } = broker;
  const limits = sessionLimits();
  const settings = { connection: { pendingMessages: pendingSendsMax } };
  const ingress = new Ingress<HeldPublish>(settings, {
    memory,
    keep: keepPublish,
    onWakeAt: () => server.onWakeAt(),
    nowMs: 0,
  });
  const facts = {
    limits,
    authMethods: [],
    permissions: undefined,
    serviceUrl: undefined,
    serviceUrlTls: undefined,
    throttle: undefined,
  };
  const embedded = {
    ...world,
    broker,
    schemas,
    memory,
    authenticator: undefined,
    observe,
    ingress,
    dispatch: new Dispatch({}, { onWakeAt: () => {}, nowMs: 0 }),
  };
  const server: Server = new Server({
    ...world,
    memory,
    observe,
    limits,
    ingress,
    openBackend: (wire) => new EmbeddedBackend(wire, embedded, facts),
  });
  const listener = createServer((socket) => server.accept(socket)).listen(0, "127.0.0.1");
  await once(listener, "listening");
  started.push(async () => {
    listener.close();
    held.letGo(1e6);
    await passUntil(timer, broker.close());
    await passUntil(timer, server.close());
  });
  const { port } = listener.address() as AddressInfo;
  return {
    held,
    server,
    port,
    one: await producerOf(port, "one"),
    two: await producerOf(port, "two"),
  };
}

async function producerOf(port: number, topic: string): Promise<RawClient> {
  const client = await RawClient.connected(port);
  started.push(() => client.close());
  client.send("producer", { topic, producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  return client;
}

/** Many SENDs in one write, so that one read brings them all. */
function sends(count: number, payloadBytes = 76): Buffer {
  const entry = entryOf("x".repeat(payloadBytes));
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

test("large SENDs wait while memory is exhausted, whichever connection filled it; small ones and other commands do not", async () => {
  const { held, server, port, one, two } = await startHeld({ memoryBytesMax: MIB });
  // It does not publish at first.
  const other = await producerOf(port, "other");
  one.socket.write(sends(30, 64 * 1024));
  await until(() => server.stats().memoryBytes > 0.75 * MIB);
  const taken = held.held;
  expect(taken).toBeLessThan(30);
  two.socket.write(
    Buffer.concat([
      frameBytes({ kind: "ping", body: {} }),
      sends(1, 20_000),
      frameBytes({ kind: "ping", body: {} }),
    ]),
  );
  // What came before the SEND is served; the SEND and what follows it wait.
  await two.next("pong");
  await until(() => server.stats().pausedConnections === 2);
  expect(held.held).toBe(taken);
  expect(server.stats().memoryPeakBytes).toBeLessThan(MIB);
  other.send("ping", {});
  await other.next("pong");
  other.socket.write(sends(1, 1_000));
  await until(() => held.held === taken + 1);
  const stop = new AbortController();
  const letGoOn = async (): Promise<void> => {
    for (; !stop.signal.aborted; await nextTurn()) held.letGo(1);
  };
  const stored = letGoOn();
  await two.next("pong");
  expect((await two.next("sendReceipt")).sequenceId).toBe(0n);
  for (let receipt = 0n; receipt < 30n; receipt++)
    expect((await one.next("sendReceipt")).sequenceId).toBe(receipt);
  stop.abort();
  await stored;
});

test("a SEND that is refused at once does not overtake the one that it waited for", async () => {
  const { held, server, one } = await startHeld({ pendingSendsMax: 1 });
  const flawed = { producerId: 1n, sequenceId: 1n, numMessages: 0 };
  one.socket.write(
    Buffer.concat([sends(1), frameBytes({ kind: "send", body: flawed }, entryOf("x"))]),
  );
  await until(() => held.held === 1 && server.stats().pausedConnections > 0);
  held.letGo(1);
  const answers = [await one.nextAny(), await one.nextAny()];
  expect(answers.map(({ command }) => command.kind)).toEqual(["sendReceipt", "sendError"]);
});

test("large frames in pieces wait for each other, so that half frames do not fill the memory", async () => {
  const { server, port, held } = await startHeld({ memoryBytesMax: 4 * MIB });
  const frame = sends(1, 1.5 * MIB);
  const clients: RawClient[] = [];
  for (let index = 0; index < 8; index++) {
    const client = await producerOf(port, `large-${index}`);
    client.socket.write(frame.subarray(0, -1));
    clients.push(client);
  }
  await until(() => server.stats().pausedConnections === 7);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  // One is admitted to a quarter of the budget; of each other one read of the socket is held.
  expect(server.stats().memoryBytes).toBeLessThan(1.6 * MIB + 7 * 0.14 * MIB + 0.2 * MIB);
  for (const client of clients) client.socket.write(frame.subarray(-1));
  for (let stored = 0; stored < clients.length; stored++) {
    await until(() => held.held > 0);
    held.letGo(1);
  }
  for (const client of clients) await client.next("sendReceipt");
});

test("a client whose SEND is being stored while the broker closes hears of it, and nothing more is taken", async () => {
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
