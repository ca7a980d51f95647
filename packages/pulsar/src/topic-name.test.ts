import { ConfigError } from "@sluice/core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatTopicName,
  fullTopicName,
  parseNamespace,
  parseTopicName,
  partitionTopicName,
} from "./topic-name.ts";

test.each([
  ["orders", "persistent://public/default/orders"],
  ["public/default/orders", "persistent://public/default/orders"],
  ["persistent://public/default/orders", "persistent://public/default/orders"],
  ["non-persistent://t/n/x", "non-persistent://t/n/x"],
  ["my-tenant/a.b:c=d_e/x", "persistent://my-tenant/a.b:c=d_e/x"],
  ["für alle", "persistent://public/default/für alle"],
  ["orders-partition-3", "persistent://public/default/orders-partition-3"],
])("%s is %s", (text, full) => {
  expect(fullTopicName(text)).toBe(full);
});

test.each([
  ["orders", "orders", undefined],
  ["orders-partition-0", "orders", 0],
  ["orders-partition-2147483647", "orders", 2_147_483_647],
  ["a-partition-1-partition-2", "a-partition-1", 2],
  // To Pulsar these are whole topics with odd names.
  ["orders-partition-2147483648", "orders-partition-2147483648", undefined],
  ["orders-partition-01", "orders-partition-01", undefined],
  ["orders-partition--1", "orders-partition--1", undefined],
  ["orders-partition-", "orders-partition-", undefined],
  ["orders-partition-1x", "orders-partition-1x", undefined],
  ["-partition-1", "-partition-1", undefined],
])("of %s the topic is %s and the partition %s", (text, localName, partition) => {
  expect(parseTopicName(text)).toMatchObject({ localName, partition });
});

test.each([
  ["", /topic is empty/],
  ["  ", /no local name/],
  ["a/b", /has 2 parts/],
  ["public/default/", /no local name/],
  ["//x", /tenant is ""/],
  ["t//x", /namespace is ""/],
  ["tenant/cluster/namespace/x", /has a cluster, as in Pulsar 1/],
  ["persistent://tenant/cluster/namespace/x", /has a cluster/],
  ["a/b/c/d/e", /has 5 parts/],
  ["http://public/default/x", /neither persistent/],
  ["://public/default/x", /neither persistent/],
  ["Persistent://public/default/x", /neither persistent/],
  ["my tenant/default/x", /tenant is "my tenant"/],
  ["tenänt/default/x", /letters, digits/],
  ["public/def$ault/x", /namespace is "def\$ault"/],
  ["line\nbreak", /control characters/],
  ["\ud800", /proper Unicode/],
  ["x".repeat(1025), /at most 1024/],
])("refuses %j and says why", (text, why) => {
  expect(() => parseTopicName(text)).toThrow(ConfigError);
  expect(() => parseTopicName(text)).toThrow(why);
});

test("the longest allowed name is accepted", () => {
  expect(parseTopicName("x".repeat(1024)).localName).toHaveLength(1024);
});

test("a parsed name is the same when formatted and parsed again", () => {
  const name = fc.stringMatching(
    /^(non-persistent:\/\/)?[a-c=/]{0,4}\/?[a-c]{1,3}(-partition-\d{1,3})?$/,
  );
  fc.assert(
    fc.property(fc.oneof(name, fc.string()), (text) => {
      let full: string;
      try {
        full = fullTopicName(text);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        return;
      }
      expect(formatTopicName(parseTopicName(full))).toBe(full);
      expect(parseTopicName(full)).toEqual(parseTopicName(text));
    }),
    { numRuns: 500 },
  );
});

describe("a partition's name", () => {
  test("is the topic's name with its number", () => {
    expect(partitionTopicName("orders", 12)).toBe(
      "persistent://public/default/orders-partition-12",
    );
    expect(parseTopicName(partitionTopicName("t/n/x", 0))).toMatchObject({
      localName: "x",
      partition: 0,
    });
  });

  test("is refused for a partition, and for a wrong number", () => {
    expect(() => partitionTopicName("orders-partition-1", 0)).toThrow(/is a partition/);
    for (const partition of [-1, 0.5, Number.NaN, 2 ** 31])
      expect(() => partitionTopicName("orders", partition)).toThrow(ConfigError);
  });
});

test("a namespace has a tenant and a name", () => {
  expect(parseNamespace("public/default")).toEqual({ tenant: "public", namespace: "default" });
  for (const wrong of ["", "public", "public/", "/default", "a/b/c", "a b/c"])
    expect(() => parseNamespace(wrong), wrong).toThrow(ConfigError);
});
