import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
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
