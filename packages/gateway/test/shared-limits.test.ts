/** Limits that several gateways share, on real sockets. */
import { MemoryStore } from "@sluice/fleet";
import { VirtualTimer } from "@sluice/core/testing";
import { afterEach, expect, test } from "vitest";
import { startTestBroker } from "./broker-world.ts";
import { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const started: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

test("a shared limit without a store is refused by name", async () => {
  const groups = { g: { topics: ["public"], messages: 10, shared: true } };
  await expect(startTestBroker({ limits: { groups } })).rejects.toThrow(
    "limits.groups.g.shared is true without a store",
  );
  const broker = { messages: 10, shared: true };
  await expect(startTestBroker({ limits: { broker } })).rejects.toThrow("limits.broker.shared");
});

test("names that cannot be part of a key in the store are refused before anything is opened", async () => {
  const store = new MemoryStore(new VirtualTimer());
  const groups = { "a b": { topics: ["public"], messages: 10, shared: true } };
  await expect(startTestBroker({ limits: { groups }, store })).rejects.toThrow('"a b"');
  await expect(startTestBroker({ store, fleet: { name: "" } })).rejects.toThrow("fleet.name");
});

test("a gateway publishes at its share, shows it, and gives it back when it closes", async () => {
  const store = new MemoryStore(new VirtualTimer());
  const broker = await startTestBroker({
    limits: { broker: { messages: 1_000, shared: true } },
    store,
    fleet: { name: "shop", maxMembers: 10 },
  });
  started.push(() => broker.close());
  await broker.timer.advance(1_000);
  const [state] = broker.administered.shares?.states() ?? [];
  expect(state).toMatchObject({ target: { level: "broker" }, pool: "shop/broker/messages" });
  expect(state?.fleet?.share).toBeGreaterThanOrEqual(100);
  const client = await RawClient.connected(broker.port);
  started.push(() => client.close());
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  for (let id = 0n; id < 10n; id++)
    client.send("send", { producerId: 1n, sequenceId: id }, entryOf("x"));
  for (let turn = 0; turn < 10; turn++) await broker.timer.advance(100);
  for (let id = 0n; id < 10n; id++) expect((await client.next("sendReceipt")).sequenceId).toBe(id);
  await broker.close();
  expect(broker.administered.shares?.states()).toEqual([]);
});
