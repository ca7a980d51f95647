import { expect, test } from "vitest";
import { parseTopicName } from "../name/topic-name.ts";
import { MemoryDocumentStore } from "../storage/document/memory-document-store.ts";
import { BACKLOG_QUOTA, MESSAGE_TTL, RETENTION } from "./enforced-policy.ts";
import { PolicyBook } from "./policy-book.ts";

const NAMESPACE = "public/default";
const T = parseTopicName("t");
const AT_T = { namespace: NAMESPACE, topic: T.full };

function open(documents = new Map<string, Uint8Array>()): Promise<PolicyBook> {
  return PolicyBook.open(new MemoryDocumentStore(documents), "standalone");
}

test("a topic has its own policy, else its namespace's, else none; so have its partitions", async () => {
  const book = await open();
  const none = { messageTtlMs: undefined, backlogQuota: undefined, retention: undefined };
  expect(book.of(T)).toEqual(none);
  await book.setPolicy({ namespace: NAMESPACE }, MESSAGE_TTL, 60);
  expect(book.of(T).messageTtlMs).toBe(60_000);
  await book.setPolicy(AT_T, MESSAGE_TTL, 5);
  expect(book.of(parseTopicName("t-partition-3")).messageTtlMs).toBe(5_000);
  expect(book.of(parseTopicName("u")).messageTtlMs).toBe(60_000);
  expect(book.of(parseTopicName("persistent://public/other/t"))).toEqual(none);
  // A TTL of 0 at the topic means none, also where its namespace has one.
  await book.setPolicy(AT_T, MESSAGE_TTL, 0);
  expect(book.of(T).messageTtlMs).toBe(0);
  await book.setPolicy(AT_T, MESSAGE_TTL, undefined);
  expect(book.of(T).messageTtlMs).toBe(60_000);
});

test("quotas and retention come in the broker's units", async () => {
  const book = await open();
  const quota = { limit: 10, limitSize: 10, limitTime: -1, policy: "producer_exception" };
  await book.setPolicy(AT_T, BACKLOG_QUOTA, { destination_storage: quota });
  await book.setPolicy(AT_T, RETENTION, { retentionTimeInMinutes: 2, retentionSizeInMB: -1 });
  expect(book.of(T)).toEqual({
    messageTtlMs: undefined,
    backlogQuota: { sizeMaxBytes: 10, ageMaxMs: undefined, action: "producer_exception" },
    retention: { ageMaxMs: 120_000, sizeMaxBytes: Infinity },
  });
  const age = { limit: -1, limitSize: -1, limitTime: 3, policy: "producer_exception" };
  await book.setPolicy(AT_T, BACKLOG_QUOTA, { message_age: age });
  expect(book.of(T).backlogQuota).toMatchObject({ sizeMaxBytes: undefined, ageMaxMs: 3_000 });
});

test("everything is there after a restart, names like __proto__ too", async () => {
  const documents = new Map<string, Uint8Array>();
  const before = await open(documents);
  const tenant = { adminRoles: ["a"], allowedClusters: ["standalone"] };
  await before.saveTenant("shop", tenant);
  await before.createNamespace("shop/eu");
  await before.setPermission({ namespace: "shop/eu" }, "__proto__", ["produce"]);
  await before.setPolicy(AT_T, MESSAGE_TTL, 5);
  const after = await open(documents);
  expect([after.tenants(), after.tenant("shop")]).toEqual([["public", "shop"], tenant]);
  expect(after.namespaces()).toEqual([NAMESPACE, "shop/eu"]);
  const { permissions } = after.policiesAt({ namespace: "shop/eu" });
  expect(Object.entries(permissions)).toEqual([["__proto__", ["produce"]]]);
  expect(after.of(T).messageTtlMs).toBe(5_000);
  await after.removeNamespace("shop/eu");
  await after.removeTenant("shop");
  const last = await open(documents);
  expect([last.tenants(), last.namespaces()]).toEqual([["public"], [NAMESPACE]]);
});

test("a change that could not be stored does not hold", async () => {
  const store = new MemoryDocumentStore();
  const book = await PolicyBook.open(store, "standalone");
  store.save = () => Promise.reject(new Error("full"));
  await expect(book.setPolicy(AT_T, MESSAGE_TTL, 5)).rejects.toThrow("full");
  await expect(book.saveTenant("shop", { adminRoles: [], allowedClusters: [] })).rejects.toThrow();
  expect([book.of(T).messageTtlMs, book.tenant("shop")]).toEqual([undefined, undefined]);
});

test("changes of one namespace at once are all kept", async () => {
  const documents = new Map<string, Uint8Array>();
  const book = await open(documents);
  const roles = Array.from({ length: 50 }, (_, index) => `role-${index}`);
  await Promise.all(
    roles.map((role) => book.setPermission({ namespace: NAMESPACE }, role, ["consume"])),
  );
  const { permissions } = (await open(documents)).policiesAt({ namespace: NAMESPACE });
  expect(Object.keys(permissions)).toEqual(roles);
});

test("a topic that was deleted leaves no policy to the next one of its name", async () => {
  const book = await open();
  await book.setPolicy(AT_T, MESSAGE_TTL, 5);
  await book.forgetTopic(AT_T);
  expect(book.of(T).messageTtlMs).toBeUndefined();
  expect(book.policiesAt(AT_T)).toEqual({ policies: {}, permissions: {} });
});

test("a document that is no JSON keeps the broker from starting, and those of others do not", async () => {
  const wrong = new Map([["policy-namespace public/default", Buffer.from("{")]]);
  await expect(open(wrong)).rejects.toMatchObject({ code: "STORAGE", kind: "damaged" });
  await expect(open(new Map([["other", Buffer.from("{")]]))).resolves.toBeDefined();
});

test("policies that no document can hold are refused, and the former ones hold", async () => {
  const book = await open();
  await book.setPolicy(AT_T, MESSAGE_TTL, 5);
  const large = "x".repeat(5 * 1024 * 1024);
  await expect(book.setPolicy(AT_T, "persistence", large)).rejects.toMatchObject({
    error: "NotAllowedError",
  });
  expect(book.of(T).messageTtlMs).toBe(5_000);
});

test("a topic's quota of one type leaves its namespace's quota of the other type in force", async () => {
  const book = await open();
  const size = { limit: 10, limitSize: 10, limitTime: -1, policy: "producer_exception" };
  const age = { limit: -1, limitSize: -1, limitTime: 5, policy: "producer_exception" };
  await book.setPolicy({ namespace: NAMESPACE }, BACKLOG_QUOTA, { message_age: age });
  await book.setPolicy(AT_T, BACKLOG_QUOTA, { destination_storage: size });
  expect(book.of(T).backlogQuota).toEqual({
    sizeMaxBytes: 10,
    ageMaxMs: 5_000,
    action: "producer_exception",
  });
});

function rights(of: PolicyBook, role: string, topic: string): readonly boolean[] {
  return (["produce", "consume", "lookup"] as const).map((action) =>
    of.isGranted(role, action, parseTopicName(topic)),
  );
}

test("a role has what it was granted on a topic and its partitions, or on the namespace, and no more", async () => {
  const documents = new Map<string, Uint8Array>();
  const book = await open(documents);
  const none = [false, false, false];
  expect(rights(book, "app", "t")).toEqual(none);
  const { grantsVersion } = book;
  await book.setPermission(AT_T, "app", ["produce"]);
  expect(book.grantsVersion).toBeGreaterThan(grantsVersion);
  const stored = await open(documents);
  for (const topic of ["t", "t-partition-3"])
    expect(rights(stored, "app", topic)).toEqual([true, false, true]);
  expect(rights(stored, "app", "u")).toEqual(none);
  expect(rights(stored, "constructor", "t")).toEqual(none);

  await book.setPermission({ namespace: NAMESPACE }, "app", ["consume"]);
  expect(rights(book, "app", "t")).toEqual([true, true, true]);
  expect(rights(book, "app", "u")).toEqual([false, true, true]);
  expect(rights(book, "app", "persistent://public/other/t")).toEqual(none);
  await book.setPermission({ namespace: NAMESPACE }, "app", undefined);
  await book.forgetTopic(AT_T);
  expect(rights(book, "app", "t")).toEqual(none);
});

test("an admin role of a tenant may use all topics of that tenant", async () => {
  const book = await open();
  const inShop = parseTopicName("persistent://shop/eu/t");
  await book.saveTenant("shop", { adminRoles: ["lead"], allowedClusters: ["standalone"] });
  expect(book.isGranted("lead", "consume", inShop)).toBe(true);
  expect(book.isGranted("lead", "consume", T)).toBe(false);
  expect(book.isGranted("shop", "consume", inShop)).toBe(false);
  const { grantsVersion } = book;
  await book.removeTenant("shop");
  expect(book.isGranted("lead", "consume", inShop)).toBe(false);
  expect(book.grantsVersion).toBeGreaterThan(grantsVersion);
});
