import { expect, test } from "vitest";
import { RefusalError } from "../refusal/refusal-error.ts";
import { parseTopicName } from "./topic-name.ts";

test("a short name stands for a full one", () => {
  const names = ["orders", "public/default/orders", "persistent://public/default/orders"];
  for (const name of names)
    expect(parseTopicName(name)).toEqual({
      full: "persistent://public/default/orders",
      isPersistent: true,
      namespace: "public/default",
      partition: undefined,
    });
  expect(parseTopicName("non-persistent://shop/eu/ping")).toMatchObject({
    full: "non-persistent://shop/eu/ping",
    isPersistent: false,
    namespace: "shop/eu",
  });
});

test("a partition knows its number and its topic", () => {
  expect(parseTopicName("shop/eu/orders-partition-12").partition).toEqual({
    of: "persistent://shop/eu/orders",
    index: 12,
  });
  for (const name of ["orders-partition-", "orders-partition-01", "orders-partition-x"])
    expect(parseTopicName(name).partition).toBeUndefined();
});

test.each([
  "",
  "a/b",
  "a/b/c/d",
  "persistent://",
  "persistent://a/b",
  "persistent:///b/c",
  "http://a/b/c",
  "a/b/",
  "line\nbreak",
  "\uD800",
  "x".repeat(5000),
])("%j is not a topic", (name) => {
  expect(() => parseTopicName(name)).toThrow(RefusalError);
});
