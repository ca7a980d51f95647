import { VirtualTimer } from "@sluice/core/testing";
import { expect, test, vi } from "vitest";
import { PublishLimits } from "../ingress/limits/publish-limits.ts";
import type { PublishLimitSettings } from "../ingress/limits/limit-settings.ts";
import { UNLIMITED } from "../ingress/limits/rate-limit.ts";
import type { BrokerEvent } from "../observe/broker-event.ts";
import { PolicyBook } from "../policy/policy-book.ts";
import { MemoryDocumentStore } from "../storage/document/memory-document-store.ts";
import { LimitBook } from "./limit-book.ts";
import { groupOf, PUBLISH_RATE, RESOURCE_GROUP } from "./publish-rate.ts";

const ORDERS = { level: "topic", name: "orders" } as const;
const FULL = "persistent://public/default/orders";
const NAMESPACE = { level: "namespace", name: "public/default" } as const;
const BROKER = { level: "broker" } as const;
const ANALYTICS = { level: "group", name: "analytics" } as const;

const GIVEN: PublishLimitSettings = {
  broker: { messages: 50_000 },
  groups: { analytics: { topics: ["public/analytics/*"], messages: 5_000 } },
  topics: { orders: { messages: 1_000, bytes: 10_000 } },
};

interface Scene {
  readonly book: LimitBook;
  readonly limits: PublishLimits;
  readonly policies: PolicyBook;
  readonly events: BrokerEvent[];
}

async function open(
  documents = new Map<string, Uint8Array>(),
  given: PublishLimitSettings = GIVEN,
): Promise<Scene> {
  const policies = await PolicyBook.open(new MemoryDocumentStore(documents), "standalone");
  const limits = new PublishLimits(given);
  const events: BrokerEvent[] = [];
  const observe = (event: BrokerEvent): void => void events.push(event);
  const book = new LimitBook({ limits, given, policies, clock: new VirtualTimer(), observe });
  return { book, limits, policies, events };
}

test("a limit that is set holds before the one of the flow file, until it is removed", async () => {
  const { book, limits } = await open();
  expect(book.get(ORDERS)).toMatchObject({ limit: { messages: 1_000 }, source: "flow file" });
  await book.set(ORDERS, { messages: 3_300 });
  expect(limits.get(ORDERS)).toEqual({ messages: 3_300 });
  expect(book.get(ORDERS)?.source).toBe("policy");
  expect(await book.unset(ORDERS)).toMatchObject({ messages: 1_000 });
  expect(book.get(ORDERS)).toMatchObject({ limit: { messages: 1_000 }, source: "flow file" });
  await expect(book.unset(ORDERS)).rejects.toThrow(/started with; set another one/);
});

test.each([
  [ORDERS, "policy"],
  [NAMESPACE, "policy"],
  [ANALYTICS, "live"],
  [BROKER, "live"],
  [{ level: "default" }, "live"],
] as const)("a limit of %j that was set is there after a restart", async (target, source) => {
  const documents = new Map<string, Uint8Array>();
  const before = await open(documents);
  await before.book.set(target, { messages: 7, bytes: 70 });
  const { book, limits, events } = await open(documents);
  expect(limits.get(target)).toEqual({ messages: 7, bytes: 70 });
  expect(book.get(target)?.source).toBe(source);
  expect(events).toEqual([]);
});

test("a deleted topic and a deleted namespace leave no limit behind", async () => {
  const { book, limits, policies } = await open();
  const shop = { level: "namespace", name: "shop/eu" } as const;
  const other = { level: "topic", name: "persistent://shop/eu/t" } as const;
  await book.set(other, { messages: 1 });
  await book.set(shop, { messages: 2 });
  await policies.forgetTopic({ namespace: "shop/eu", topic: other.name });
  expect(limits.get(other)).toBeUndefined();
  await policies.removeNamespace("shop/eu");
  expect(limits.get(shop)).toBeUndefined();
});

test("a topic may be unlimited in a namespace that has a limit", async () => {
  const { book, limits } = await open();
  await book.set(NAMESPACE, { messages: 5 });
  await book.set(ORDERS, UNLIMITED);
  expect(
    limits
      .limitsOf("orders")
      .levelsAt(0)
      .every((level) => level.name !== "topic" || !level.isLimited),
  ).toBe(true);
  expect(limits.limitsOf("other").levelsAt(0)[0]?.limit).toEqual({ messages: 5 });
});

test("each change is told once, with what was before", async () => {
  const { book, policies, events } = await open();
  await book.set(ORDERS, { messages: 3_300 });
  await book.set(ORDERS, { messages: 3_300 });
  await policies.setPolicy({ namespace: "public/default" }, "messageTTL", 60);
  await book.unset(ORDERS);
  expect(events).toEqual([
    {
      kind: "limit-changed",
      target: `topic ${FULL}`,
      from: { messages: 1_000, bytes: 10_000 },
      to: { messages: 3_300 },
      by: "the admin API",
    },
    {
      kind: "limit-changed",
      target: `topic ${FULL}`,
      from: { messages: 3_300 },
      to: { messages: 1_000, bytes: 10_000 },
      by: "the admin API",
    },
  ]);
});

test("namespaces of a resource group share its limit, beside the topics of the flow file", async () => {
  const documents = new Map<string, Uint8Array>();
  const before = await open(documents);
  await before.book.groups.save("tenants", groupOf({ messages: 10 }));
  for (const namespace of ["a/x", "a/y"])
    await before.policies.setPolicy({ namespace }, RESOURCE_GROUP, "tenants");
  await before.policies.setPolicy({ namespace: "a/y" }, RESOURCE_GROUP, "analytics");
  for (const { limits, book } of [before, await open(documents)]) {
    const levels = (topic: string): readonly string[] =>
      limits
        .limitsOf(topic)
        .levelsAt(0)
        .map(({ name }) => name);
    expect(levels("persistent://a/x/t")).toEqual(["group tenants", "broker"]);
    expect(levels("persistent://a/y/t")).toEqual(["group analytics", "broker"]);
    expect(levels("persistent://public/analytics/t")).toEqual(["group analytics", "broker"]);
    expect(book.groups.namespacesOf("tenants")).toEqual(["a/x"]);
  }
  await before.policies.setPolicy({ namespace: "a/x" }, RESOURCE_GROUP, undefined);
  await before.book.groups.save("tenants", undefined);
  expect(before.limits.groups().map(({ name }) => name)).toEqual(["analytics"]);
});

test("a group that nobody has named is refused with the way out", async () => {
  const { book } = await open();
  await expect(book.set({ level: "group", name: "x" }, { messages: 1 })).rejects.toThrow(
    /no group "x" \(there are: analytics\); name its topics/,
  );
  await expect(book.set({ level: "namespace", name: "x" }, { messages: 1 })).rejects.toThrow(
    /write "tenant\/namespace"/,
  );
  await expect(book.set(BROKER, { messages: 0.5 })).rejects.toThrow(/messages is 0\.5/);
});

test("a policy of Pulsar's tools is a limit: 0 and less are none, long rates are kept", async () => {
  const { limits, policies } = await open();
  const place = { namespace: "public/default", topic: FULL };
  const value = { publishThrottlingRateInMsg: 5, publishThrottlingRateInByte: 0 };
  await policies.setPolicy(place, PUBLISH_RATE, value);
  expect(limits.get(ORDERS)).toEqual({ messages: 5 });
  await policies.setPolicy(place, PUBLISH_RATE, undefined);
  expect(limits.get(ORDERS)).toMatchObject({ messages: 1_000 });
});

/** Names that a test counts: "g0", "g1" and so on. */
function named(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

test("the 1,001st group is refused before it is stored, and later changes go on", async () => {
  const documents = new Map<string, Uint8Array>();
  const { book, policies } = await open(documents);
  const groups = Object.fromEntries(named("g", 999).map((name) => [name, groupOf({})]));
  await policies.changeLimits((limits) => ({ ...limits, groups }));
  await expect(book.groups.save("more", groupOf({ messages: 1 }))).rejects.toThrow(/1000 groups/);
  await book.set(BROKER, { messages: 7 });
  await book.groups.save("g1", groupOf({ messages: 1 }));
  const again = await open(documents);
  expect(again.limits.groups()).toHaveLength(1_000);
  expect(again.limits.get(BROKER)).toEqual({ messages: 7 });
});

test("the 1,001st namespace of a group is refused before it is stored, and others go on", async () => {
  const { book, policies } = await open();
  await book.groups.save("all", groupOf({ messages: 1 }));
  for (const namespace of named("a/n", 1_000))
    await policies.setPolicy({ namespace }, RESOURCE_GROUP, "all");
  const more = policies.setPolicy({ namespace: "a/more" }, RESOURCE_GROUP, "all");
  await expect(more).rejects.toThrow(/"all" has 1000 namespaces/);
  await policies.setPolicy({ namespace: "a/n7" }, "messageTTL", 60);
  await policies.setPolicy({ namespace: "a/more" }, RESOURCE_GROUP, "analytics");
  expect(book.groups.namespacesOf("all")).toHaveLength(1_000);
});

test("a limit for more topics than there is room for is refused before it is stored", async () => {
  const { book, limits } = await open(new Map(), { topics: { t7: { messages: 1 } } });
  vi.spyOn(limits, "setTopics", "get").mockReturnValue(100_000);
  await expect(book.set(ORDERS, { messages: 1 })).rejects.toThrow(/100000 topics/);
  await book.set({ level: "topic", name: "t7" }, { messages: 2 });
  await book.set(NAMESPACE, { messages: 3 });
});

test("a stored limit that another flow file leaves no room for is left out and told, and the rest holds", async () => {
  const documents = new Map<string, Uint8Array>();
  const before = await open(documents);
  await before.book.groups.save("tenants", groupOf({ messages: 10 }));
  await before.book.set(ORDERS, { messages: 5 });
  const limit = { topics: ["public/x"], messages: 1 };
  const groups = Object.fromEntries(named("g", 1_000).map((name) => [name, limit]));
  const { book, limits, events } = await open(documents, { groups });
  expect(limits.get(ORDERS)).toEqual({ messages: 5 });
  const [told] = events;
  expect(told?.kind === "error" && String(told.error)).toContain("group tenants is left out");
  await book.set(ORDERS, { messages: 6 });
  expect(limits.get(ORDERS)).toEqual({ messages: 6 });
  expect(events.filter(({ kind }) => kind === "error")).toHaveLength(1);
});

test("a listener that hears of a change finds the permissions of it", async () => {
  const { policies } = await open();
  const versions: number[] = [];
  const before = policies.grantsVersion;
  policies.onChange(() => versions.push(policies.grantsVersion));
  await policies.setPermission({ namespace: "a/b" }, "role", ["produce"]);
  expect(versions).toEqual([before + 1]);
});

test.each([BROKER, ANALYTICS])(
  "no limit for %j is listed as live, and can be taken back, also after a restart",
  async (target) => {
    const documents = new Map<string, Uint8Array>();
    const before = await open(documents);
    await before.book.set(target, UNLIMITED);
    expect(before.limits.get(target)).toBeUndefined();
    const { book, limits } = await open(documents);
    expect(book.get(target)).toMatchObject({ limit: {}, source: "live" });
    expect(book.list()).toContainEqual(expect.objectContaining({ target, source: "live" }));
    await book.unset(target);
    expect(limits.get(target)).toBeDefined();
    expect(book.get(target)?.source).toBe("flow file");
  },
);

test("the limits of another flow file hold at once, but for those that were set while the process ran", async () => {
  const { book, limits, events } = await open();
  await book.set(BROKER, { messages: 9 });
  events.length = 0;
  book.reload({
    broker: { messages: 60_000 },
    groups: { bulk: { topics: ["public/bulk/*"], messages: 7 } },
    namespaces: { "public/default": { messages: 5 } },
    topics: { refunds: { messages: 2 } },
  });
  expect(limits.get(ORDERS)).toBeUndefined();
  expect(limits.get(NAMESPACE)).toEqual({ messages: 5 });
  expect(limits.get({ level: "topic", name: "refunds" })).toEqual({ messages: 2 });
  expect(limits.groups().map(({ name, topics }) => [name, topics])).toEqual([
    ["bulk", ["public/bulk/*"]],
  ]);
  expect(limits.get(BROKER)).toEqual({ messages: 9 });
  expect(await book.unset(BROKER)).toEqual({ messages: 60_000 });
  expect(events[0]).toMatchObject({ kind: "limit-changed", by: "the flow file" });
});

test("a limit of a topic that was set stays when the file loses the topic", async () => {
  const { book, limits } = await open();
  await book.set(ORDERS, { messages: 3 });
  book.reload({});
  expect(limits.get(ORDERS)).toEqual({ messages: 3 });
  await book.unset(ORDERS);
  expect(limits.get(ORDERS)).toBeUndefined();
});

test("a wrong limit of another flow file changes nothing", async () => {
  const { book, limits } = await open();
  const before = limits.list();
  const wrong = { topics: { orders: { messages: 7 }, refunds: { messages: -1 } } };
  expect(() => book.reload(wrong)).toThrow(/-1/);
  expect(limits.list()).toEqual(before);
  expect(limits.get(ANALYTICS)).toEqual({ messages: 5_000 });
});
