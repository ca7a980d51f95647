import { ConfigError } from "@sluice/core";
import { describe, expect, test } from "vitest";
import { readRedisOptions } from "./options.ts";
import type { RedisStoreOptions } from "./options.ts";

const AT = [{ host: "h", port: 1 }];
const SECRET = "hunter2";

describe("the settings of a store in Redis", () => {
  test.each<[string, RedisStoreOptions, object]>([
    [
      "a url",
      { url: "redis://h" },
      { kind: "single", address: { host: "h", port: 6379 }, database: 0 },
    ],
    [
      "all of a url",
      { url: "redis://u:p%40w@h:77/5" },
      { username: "u", password: "p@w", address: { host: "h", port: 77 }, database: 5 },
    ],
    [
      "a url with an address of IPv6",
      { url: "redis://[::1]:7" },
      { address: { host: "::1", port: 7 } },
    ],
    ["a url with TLS", { url: "rediss://h/" }, { tls: {} }],
    [
      "a password beside the url",
      { url: "redis://u:p@h", password: "q" },
      { username: "u", password: "q" },
    ],
    ["TLS beside the url", { url: "redis://h", tls: { ca: "pem" } }, { tls: { ca: "pem" } }],
    ["no TLS", { url: "redis://h", tls: false }, { tls: undefined }],
    [
      "sentinels",
      { sentinel: { masterName: "m", endpoints: AT, password: "s" }, password: "p" },
      {
        kind: "sentinel",
        endpoints: AT,
        masterName: "m",
        password: "p",
        sentinelLogin: { password: "s" },
      },
    ],
    ["a cluster", { cluster: { nodes: AT }, tls: true }, { kind: "cluster", nodes: AT, tls: {} }],
  ])("are read from %s", (_what, options, expected) => {
    expect(readRedisOptions(options).from).toMatchObject({ target: expected });
  });

  test("have a timeout of 750 ms unless given", () => {
    expect(readRedisOptions({ url: "redis://h" }).timeoutMs).toBe(750);
    expect(readRedisOptions({ url: "redis://h", timeoutMs: 100 }).timeoutMs).toBe(100);
  });

  test.each<[string, object]>([
    ["nothing", {}],
    ["no url", { url: "" }],
    ["a url of something else", { url: `http://u:${SECRET}@h` }],
    ["a url without a host", { url: "redis://" }],
    ["a url with a query", { url: `redis://u:${SECRET}@h?db=1` }],
    ["a database that is no number", { url: `redis://u:${SECRET}@h/zero` }],
    ["a port that is none", { url: `redis://u:${SECRET}@h:99999` }],
    ["an unknown option", { url: "redis://h", commandTimeout: 1 }],
    ["no time at all", { url: "redis://h", timeoutMs: 0 }],
    ["a timeout beyond a minute", { url: "redis://h", timeoutMs: 60_001 }],
    ["two places", { url: "redis://h", cluster: { nodes: AT } }],
    ["no sentinel", { sentinel: { masterName: "m", endpoints: [] } }],
    ["no master", { sentinel: { masterName: "", endpoints: AT } }],
    [
      "an unknown option of a sentinel",
      { sentinel: { masterName: "m", endpoints: AT, name: "m" } },
    ],
    ["no node", { cluster: { nodes: [] } }],
    ["a node without a port", { cluster: { nodes: [{ host: "h", port: 0 }] } }],
    ["a node without a host", { cluster: { nodes: [{ host: "", port: 1 }] } }],
    ["an unknown option of TLS", { url: "redis://h", tls: { rejectUnauthorized: false } }],
    ["a login beside the caller's client", { client: {}, password: SECRET }],
    ["a library that is not known", { url: "redis://h", library: SECRET }],
    ["an unknown option of the runtime", { url: "redis://h", runtime: { clock: 1 } }],
  ])("are refused with %s, and no password is told", (_what, options) => {
    const read = (): unknown => readRedisOptions(options as RedisStoreOptions);
    expect(read).toThrow(ConfigError);
    expect(read).not.toThrow(SECRET);
  });
});

test.each<[string, unknown, RegExp]>([
  ["nothing", undefined, /redisStore is undefined/],
  ["nowhere", {}, /has none of url, sentinel, cluster, client/],
  ["two places", { url: "redis://h", cluster: {} }, /has url and cluster/],
  ["no sentinel", { sentinel: {} }, /masterName is missing/],
  ["no endpoints", { sentinel: { masterName: "m" } }, /endpoints must be a list/],
  ["endpoints in text", { cluster: { nodes: ["a:1"] } }, /nodes is string/],
  ["a password that is no text", { url: "redis://h", password: 5 }, /password is number/],
  [
    "a password that cannot be read",
    { url: "redis://:%FFx@h" },
    /url is not a Redis URL; it must be redis:/,
  ],
])("is refused with one line: %s", (_what, options, message) => {
  const read = (): unknown => readRedisOptions(options as RedisStoreOptions);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(message);
});
