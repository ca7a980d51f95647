import { expect, test } from "vitest";
import { MemoryTopicLog } from "../../storage/log/memory-topic-log.ts";
import { Consumer } from "../consumer.ts";
import { Cursor } from "../cursor/cursor.ts";
import { Subscription } from "../subscription.ts";
import type { SubscriptionType } from "../subscription.ts";

interface Stage {
  readonly subscription: Subscription;
  /** Reads and delivers until nothing more happens; who got which entries. */
  readonly run: () => Promise<readonly (readonly [string, number])[]>;
}

async function stage(
  type: SubscriptionType,
  { entries, partition }: { readonly entries: number; readonly partition?: number },
): Promise<Stage> {
  const log = new MemoryTopicLog();
  for (let count = 0; count < entries; count++)
    await log.append({ parts: [Buffer.alloc(100)], messageCount: 1, publishedAtMs: 0 });
  const subscription = new Subscription(Cursor.startingAt(log, log.first), type, {
    bounds: { countMax: 1000, bytesMax: 100_000 },
    unackedMax: 1000,
    consumersMax: 10,
    keys: { hashOfEntry: () => 0, hashOfText: () => 0 },
    delays: { deliverAtMsOf: () => undefined, wallClock: { now: () => 0 }, countMax: 1 },
    partition,
  });
  const run = async (): Promise<readonly (readonly [string, number])[]> => {
    const given: (readonly [string, number])[] = [];
    for (;;) {
      for (const { consumer: to, deliveries } of subscription.dispatch())
        for (const { position } of deliveries) given.push([to.name, position.entryId]);
      const request = subscription.wanted();
      if (request === undefined) return given;
      const read = await log.read(request.from, request.bounds);
      subscription.onRead(request, read);
      if (read.length === 0) return given;
    }
  };
  return { subscription, run };
}

function consumer(name: string, priorityLevel = 0): Consumer {
  const created = new Consumer({ name, priorityLevel, unackedMax: 1000 });
  created.addPermits(100);
  return created;
}

test("consumers of a shared subscription get the same number of entries", async () => {
  const { subscription, run } = await stage("shared", { entries: 90 });
  for (const name of ["a", "b", "c"]) subscription.join(consumer(name), "shared");
  const given = await run();
  const counts = ["a", "b", "c"].map((name) => given.filter(([to]) => to === name).length);
  expect(counts).toEqual([30, 30, 30]);
});

test("a consumer of lower priority gets what those before it cannot take", async () => {
  const { subscription, run } = await stage("shared", { entries: 150 });
  subscription.join(consumer("second", 1), "shared");
  subscription.join(consumer("first", 0), "shared");
  const given = await run();
  const toSecond = given.filter(([to]) => to === "second").map(([, entryId]) => entryId);
  expect(toSecond).toEqual(Array.from({ length: 50 }, (_, index) => 100 + index));
});

test("a failover consumer of higher priority takes over, from what is not acknowledged", async () => {
  const { subscription, run } = await stage("failover", { entries: 3 });
  const [old, other, better] = [consumer("old", 1), consumer("other", 1), consumer("better", 0)];
  expect(subscription.join(old, "failover")).toEqual([{ consumer: old, isActive: true }]);
  expect(subscription.join(other, "failover")).toEqual([]);
  expect(await run()).toHaveLength(3);
  subscription.acknowledge([{ position: { ledgerId: 0, entryId: 1 } }]);
  expect(subscription.join(better, "failover")).toEqual([
    { consumer: old, isActive: false },
    { consumer: better, isActive: true },
  ]);
  expect(await run()).toEqual([
    ["better", 0],
    ["better", 2],
  ]);
  expect(subscription.leave(better)).toEqual([{ consumer: old, isActive: true }]);
});

test("the consumers of a partitioned topic share its partitions, in the order of their names", async () => {
  const active = [];
  for (const partition of [0, 1, 2]) {
    const { subscription } = await stage("failover", { entries: 0, partition });
    const consumers = ["b", "a"].map((name) => consumer(name));
    for (const each of consumers) subscription.join(each, "failover");
    active.push(consumers.find((each) => subscription.isActive(each))?.name);
  }
  expect(active).toEqual(["a", "b", "a"]);
});

test("a subscription that has consumers keeps its type, and an exclusive one has one", async () => {
  const { subscription } = await stage("exclusive", { entries: 0 });
  const first = consumer("first");
  subscription.join(first, "failover");
  expect(() => subscription.join(consumer("x"), "shared")).toThrow("is failover, not shared");
  subscription.leave(first);
  subscription.join(first, "exclusive");
  expect(() => subscription.join(consumer("x"), "exclusive")).toThrow("has a consumer");
});

test("what all consumers together have not acknowledged is bounded", async () => {
  const { subscription, run } = await stage("shared", { entries: 1500 });
  for (let index = 0; index < 10; index++) {
    const each = consumer(`consumer ${index}`);
    each.addPermits(1000);
    subscription.join(each, "shared");
  }
  expect(await run()).toHaveLength(1000);
  const acks = [0, 1, 2].map((entryId) => ({ position: { ledgerId: 0, entryId } }));
  subscription.acknowledge(acks);
  expect(await run()).toHaveLength(3);
});

test("an entry comes back once, also if its consumer asks for it twice, and never if another does", async () => {
  const { subscription, run } = await stage("shared", { entries: 1 });
  const [holder, other] = [consumer("holder"), consumer("other")];
  subscription.join(holder, "shared");
  expect(await run()).toEqual([["holder", 0]]);
  subscription.join(other, "shared");
  const position = { ledgerId: 0, entryId: 0 };
  subscription.redeliver(other, [position]);
  expect(await run()).toEqual([]);
  subscription.redeliver(holder, [position, position, { ledgerId: 9, entryId: 9 }]);
  expect(await run()).toHaveLength(1);
});
