/** What every broker's store must do, whatever it is made of. */
import { ConfigError, InvariantError } from "@sluice/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BrokerStore } from "../src/storage/store/broker-store.ts";
import { StorageClosedError } from "../src/storage/storage-error.ts";
import { textsOf } from "./document-store-contract.ts";
import { readAll, say, textOf } from "./topic-log-contract.ts";

const TOPIC = "persistent://public/default/orders-partition-0";

export function describeBrokerStore(what: string, openStore: () => Promise<BrokerStore>): void {
  describe(what, () => {
    let store: BrokerStore;

    beforeEach(async () => {
      store = await openStore();
    });

    afterEach(() => store.close());

    test("a topic that was closed has its entries and cursors when it is opened again", async () => {
      const before = await store.openTopic(TOPIC);
      await say(before.log, "entry");
      await before.cursors.load();
      await before.cursors.save("subscription", Buffer.from("cursor"));
      await before.close();
      const after = await store.openTopic(TOPIC);
      expect((await readAll(after.log)).map(textOf)).toEqual(["entry"]);
      expect(await textsOf(after.cursors)).toEqual({ subscription: "cursor" });
    });

    test("topics are apart, and all that exist are listed", async () => {
      for (const name of [TOPIC, TOPIC.toUpperCase(), "..", `${"long/".repeat(200)}name`]) {
        const { log } = await store.openTopic(name);
        await say(log, name);
        expect((await readAll(log)).map(textOf)).toEqual([name]);
      }
      expect(store.topics()).toHaveLength(4);
      expect(store.topics()).toContain(TOPIC);
    });

    test("a topic is open once, and opens again after it was closed", async () => {
      const opening = store.openTopic(TOPIC);
      await expect(store.openTopic(TOPIC)).rejects.toThrow(InvariantError);
      await (await opening).close();
      await store.openTopic(TOPIC);
    });

    test("a removed topic is gone, and begins anew", async () => {
      const topic = await store.openTopic(TOPIC);
      await say(topic.log, "entry");
      await expect(store.removeTopic(TOPIC)).rejects.toThrow(InvariantError);
      await topic.close();
      await store.removeTopic(TOPIC);
      await store.removeTopic("never there");
      expect(store.topics()).toEqual([]);
      const { log, cursors } = await store.openTopic(TOPIC);
      expect(await readAll(log)).toEqual([]);
      expect(await textsOf(cursors)).toEqual({});
    });

    test("keeps numbers of partitions", async () => {
      await store.savePartitionCount("orders", 4);
      await Promise.all([
        store.savePartitionCount("orders", 8),
        store.savePartitionCount("bills", 2),
        store.savePartitionCount("gone", 1),
        store.removePartitionCount("gone"),
      ]);
      expect(Object.fromEntries(store.partitionCounts())).toEqual({ orders: 8, bills: 2 });
      await expect(store.savePartitionCount("orders", 0)).rejects.toThrow(ConfigError);
    });

    test("keeps documents of its own", async () => {
      await store.documents.save("policies", Buffer.from("none"));
      expect(await textsOf(store.documents)).toEqual({ policies: "none" });
    });

    test("close closes the topics that are open; later calls reject", async () => {
      const { log } = await store.openTopic(TOPIC);
      await store.close();
      await expect(say(log, "late")).rejects.toThrow(StorageClosedError);
      await expect(store.openTopic(TOPIC)).rejects.toThrow(StorageClosedError);
      await expect(store.savePartitionCount("orders", 1)).rejects.toThrow(StorageClosedError);
      await expect(store.documents.load()).rejects.toThrow(StorageClosedError);
    });
  });
}
