import { expect, test } from "vitest";
import { labelOf, pathOf, targetOf } from "./target.ts";

test("the address names a topic in any of its forms, a group, the gateway or what it holds", () => {
  expect(targetOf("public/default/orders")).toEqual({
    kind: "topic",
    name: "public/default/orders",
  });
  expect(targetOf("persistent://public/default/orders")).toEqual({
    kind: "topic",
    name: "public/default/orders",
  });
  expect(targetOf("orders")).toEqual({ kind: "topic", name: "public/default/orders" });
  expect(targetOf("group/analytics")).toEqual({ kind: "group", name: "analytics" });
  expect(targetOf("group/a/b")).toEqual({ kind: "topic", name: "group/a/b" });
  expect(targetOf("broker")).toEqual({ kind: "broker" });
  expect(targetOf("held")).toEqual({ kind: "held" });
  expect(targetOf("")).toBeUndefined();
});

test("the path of a target leads back to it, whatever its name", () => {
  for (const target of [
    { kind: "topic", name: "public/default/a b#1?" },
    { kind: "group", name: "a %" },
    { kind: "broker" },
  ] as const)
    expect(targetOf(decodeURIComponent(pathOf(target).slice("/topics/".length)))).toEqual(target);
});

test("people see the last part of a topic's name", () => {
  expect(labelOf({ kind: "topic", name: "public/default/orders" })).toBe("orders");
});
