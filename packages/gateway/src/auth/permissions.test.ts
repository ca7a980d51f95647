import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import type { TopicName } from "../name/topic-name.ts";
import { Permissions } from "./permissions.ts";

const permissions = new Permissions({
  shop: { produce: ["public/default/*"], consume: ["public/default/orders", "a/b/x-*-y"] },
  persistent: { produce: ["persistent://public/default/*"] },
  root: { admin: true },
  nothing: {},
});

test.each([
  ["shop", "produce", "orders", true],
  ["shop", "produce", "persistent://public/default/orders", true],
  ["shop", "produce", "non-persistent://public/default/orders", true],
  ["shop", "produce", "persistent://public/default/orders-partition-3", true],
  ["shop", "produce", "persistent://public/other/orders", false],
  ["shop", "produce", "persistent://public/default/a/b", false],
  ["shop", "consume", "orders", true],
  ["shop", "consume", "orders-partition-12", true],
  ["shop", "consume", "orders2", false],
  ["shop", "consume", "returns", false],
  ["shop", "lookup", "returns", true],
  ["shop", "consume", "persistent://a/b/x-1-y", true],
  ["shop", "consume", "persistent://a/b/x-y", false],
  ["shop", "lookup", "persistent://a/c/x-1-y", false],
  ["persistent", "produce", "orders", true],
  ["persistent", "produce", "non-persistent://public/default/orders", false],
  ["root", "consume", "persistent://any/thing/at-all", true],
  ["nothing", "lookup", "orders", false],
  ["unknown", "lookup", "orders", false],
  ["constructor", "lookup", "orders", false],
  [undefined, "lookup", "orders", false],
  ["shop", "produce", "", false],
  ["shop", "produce", "://", false],
] as const)("%s may %s on %s: %s", (role, action, topic, isAllowed) => {
  expect(permissions.allows(role, action, topic)).toBe(isAllowed);
});

test("only a role that says so administers", () => {
  expect(["root", "shop", undefined].map((role) => permissions.isAdmin(role))).toEqual([
    true,
    false,
    false,
  ]);
});

test("a role sees the topics that it may look up", () => {
  const topics = ["persistent://public/default/a-partition-0", "persistent://public/other/a"];
  expect(permissions.visible("shop", "lookup", topics)).toEqual(topics.slice(0, 1));
  expect(permissions.visible("root", "lookup", topics)).toEqual(topics);
  expect(permissions.visible(undefined, "lookup", topics)).toEqual([]);
});

/** Grants of one role on one namespace, that a test can take back. */
class SomeGrants {
  grantsVersion = 0;
  asked = 0;
  #actions: readonly string[] = [];

  grant(...actions: readonly string[]): void {
    this.#actions = actions;
    this.grantsVersion += 1;
  }

  isGranted(role: string, action: string, { namespace }: TopicName): boolean {
    this.asked += 1;
    return role === "guest" && namespace === "shop/eu" && this.#actions.includes(action);
  }
}

test("a role has its configured rights and those granted, until they are revoked", () => {
  const grants = new SomeGrants();
  const both = new Permissions({ guest: { consume: ["public/default/*"] } }, grants);
  const rights = (): readonly boolean[] => [
    both.allows("guest", "consume", "orders"),
    both.allows("guest", "consume", "persistent://shop/eu/t"),
    both.allows("other", "consume", "persistent://shop/eu/t"),
    both.allows(undefined, "consume", "persistent://shop/eu/t"),
  ];
  expect(rights()).toEqual([true, false, false, false]);
  grants.grant("consume");
  expect(rights()).toEqual([true, true, false, false]);
  expect(both.isAdmin("guest")).toBe(false);
  grants.grant();
  expect(rights()).toEqual([true, false, false, false]);
});

test("a list of topics that was asked for before shows what was granted and revoked since", () => {
  const grants = new SomeGrants();
  const granted = new Permissions({}, grants);
  const topics = Object.freeze(["persistent://shop/eu/t", "persistent://shop/us/t"]);
  const seen = (): readonly string[] => granted.visible("guest", "lookup", topics);
  expect(seen()).toEqual([]);
  grants.grant("lookup");
  expect(seen()).toEqual(["persistent://shop/eu/t"]);
  grants.grant();
  expect(seen()).toEqual([]);
});

test("a list is looked through once per role and change, for the 64 latest roles", () => {
  const grants = new SomeGrants();
  const granted = new Permissions({}, grants);
  const topics = Object.freeze(["persistent://shop/eu/t"]);
  const ask = (role: number): unknown => granted.visible(`role-${role}`, "lookup", topics);
  for (let role = 0; role < 64; role++) ask(role);
  for (let role = 0; role < 64; role++) ask(role);
  expect(grants.asked).toBe(64);
  ask(64);
  ask(1);
  expect(grants.asked).toBe(65);
  ask(0);
  expect(grants.asked).toBe(66);
});

test.each([
  [{ shop: { produce: ["orders"] } }, /roles\.shop\.produce has "orders"/],
  [{ shop: { consume: ["kafka://a/b/c"] } }, /tenant\/namespace\/topic/],
  [{ shop: { produces: [] } }, /produces/],
  [{ shop: { produce: "public/default/*" } }, /must be a list/],
])("a mistake in the roles is named: %j", (roles, why) => {
  const create = (): unknown => new Permissions(roles as Record<string, object>);
  expect(create).toThrow(ConfigError);
  expect(create).toThrow(why);
});
