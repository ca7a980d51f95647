import { format, inspect } from "node:util";
import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readRateLimit } from "./rate-limit.ts";
import { redisOptionsOf } from "./redis-options-of.ts";
import { Secret } from "./secret.ts";
import type { ReadSecret } from "./secret.ts";
import type { StoreSettings } from "./store-settings.ts";

function read(store: unknown, reader?: ReadSecret): StoreSettings | undefined {
  const options = reader === undefined ? {} : { readSecret: reader };
  return readRateLimit({ max: 100, store }, options).store;
}

function errorOf(store: unknown, reader?: ReadSecret): unknown {
  try {
    return read(store, reader);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** The settings with their secrets as text. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revealed(each)]));
}

const single = (fields: object): object => ({ redisStore: { mode: "single", ...fields } });
const sentinel = (fields: object = {}, db?: number): object => ({
  redisStore: {
    mode: "sentinel",
    sentinel: { masterName: "main", endpoints: ["a:26379"], ...fields },
    db,
  },
});

/** Files end with a line end. */
const readSecret: ReadSecret = ({ name, key }) =>
  name === "none" ? undefined : `${name}/${key}\n`;

const OPEN = { auth: undefined, tls: undefined };
const SENTINEL = {
  kind: "redis",
  mode: "sentinel",
  db: 0,
  masterName: "main",
  endpoints: [{ host: "a", port: 26_379 }],
  sentinel: OPEN,
  redis: OPEN,
};

test.each<[string, object, object]>([
  ["in memory", { inMemoryStore: {} }, { kind: "memory" }],
  ["single", single({ url: "redis://h:6379" }), { url: "redis://h:6379" }],
  ["with a database", single({ url: "redis://h:6379/3" }), { url: "redis://h:6379/3" }],
  ["with a database beside it", single({ url: "redis://h", db: 3 }), { url: "redis://h/3" }],
  ["with the same one twice", single({ url: "redis://h/3", db: 3 }), { url: "redis://h/3" }],
  ["with TLS", single({ url: "rediss://u:p%40@h:1" }), { url: "rediss://u:p%40@h:1" }],
])("a store of one server is read: %s", (_, store, expected) => {
  const redis = "kind" in expected ? {} : { kind: "redis", mode: "single" };
  expect(revealed(read(store))).toEqual({ ...redis, ...expected });
});

test.each<[string, object, object]>([
  ["the least", sentinel(), SENTINEL],
  [
    "endpoints",
    sentinel({ endpoints: ["redis-0.ns.svc:1", "[::1]:65535"] }),
    {
      ...SENTINEL,
      endpoints: [
        { host: "redis-0.ns.svc", port: 1 },
        { host: "::1", port: 65_535 },
      ],
    },
  ],
  [
    "credentials",
    sentinel({
      sentinelAuth: { password: "s" },
      redisAuth: {
        username: { name: "redis", key: "user" },
        password: { name: "redis", key: "pw" },
      },
    }),
    {
      ...SENTINEL,
      sentinel: { ...OPEN, auth: { username: undefined, password: "s" } },
      redis: { ...OPEN, auth: { username: "redis/user", password: "redis/pw" } },
    },
  ],
  [
    "TLS",
    sentinel({
      sentinelTLS: {},
      redisTLS: {
        caCertSecret: { name: "tls", key: "ca" },
        certSecret: { name: "tls", key: "cert", optional: false },
        keySecret: "PEM",
      },
    }),
    {
      ...SENTINEL,
      sentinel: {
        ...OPEN,
        tls: { isVerified: true, ca: undefined, cert: undefined, key: undefined },
      },
      redis: { ...OPEN, tls: { isVerified: true, ca: "tls/ca", cert: "tls/cert", key: "PEM" } },
    },
  ],
  [
    "a secret that may be missing, and is",
    sentinel({ redisAuth: { password: { name: "none", key: "pw", optional: true } } }),
    SENTINEL,
  ],
  ["a database", sentinel({}, 2), { ...SENTINEL, db: 2 }],
])("a store behind sentinels is read: %s", (_, store, expected) => {
  expect(revealed(read(store, readSecret))).toEqual(expected);
});

const URL_EXPECTED = "redis://[user:password@]host[:port][/database], or rediss:// for TLS";
const AT = "rateLimit.store.redisStore";
const PASSWORD = `${AT}.sentinel.redisAuth.password`;
const REFERENCE = `${PASSWORD} refers to the key "pw" of the secret "redis"`;
const redisAuth = { password: { name: "redis", key: "pw" } };

test.each<[unknown, string]>([
  [
    "redis://h",
    "rateLimit.store is a text; it must be a map with keys of redisStore, inMemoryStore",
  ],
  [{}, "rateLimit.store has no store; it must have one"],
  [
    { redisStore: {}, inMemoryStore: {} },
    "rateLimit.store has both redisStore and inMemoryStore; it must have one",
  ],
  [{ redis: {} }, "rateLimit.store.redis is not known; known are redisStore, inMemoryStore"],
  [{ redistore: {} }, "rateLimit.store.redistore is not known; did you mean redisStore?"],
  [{ inMemoryStore: null }, "rateLimit.store.inMemoryStore is null; it must be an empty map, {}"],
  [{ redisStore: {} }, `${AT}.mode is missing; it must be single or sentinel`],
  [
    { redisStore: { mode: "Single" } },
    `${AT}.mode is "Single"; it must be single or sentinel; did you mean single?`,
  ],
  [
    { redisStore: { mode: "cluster" } },
    `${AT}.mode is "cluster"; it must be single or sentinel; a cluster is given as the store itself`,
  ],
  [single({}), `${AT}.url is missing; it must be ${URL_EXPECTED}`],
  [
    single({ url: "redis://h", sentinel: {} }),
    `${AT}.sentinel is not used in single mode; it must not be there`,
  ],
  [
    { redisStore: { mode: "sentinel", url: "redis://h" } },
    `${AT}.url is not used in sentinel mode; it must not be there`,
  ],
  [
    single({ url: "redis://h/1", db: 2 }),
    `${AT}.db is 2; it must be 1, as in the url, or not be there`,
  ],
  [
    single({ url: "redis://h", db: -1 }),
    `${AT}.db is -1; it must be a whole number from 0 to 9999`,
  ],
  [
    { redisStore: { mode: "sentinel" } },
    `${AT}.sentinel is missing; it must be a map with masterName and endpoints`,
  ],
  [
    sentinel({ masterName: "" }),
    `${AT}.sentinel.masterName is ""; it must be a text that is not empty`,
  ],
  [
    sentinel({ masterName: undefined }),
    `${AT}.sentinel.masterName is missing; it must be a text that is not empty`,
  ],
  [
    sentinel({ master_name: "other" }),
    `${AT}.sentinel.masterName is there as master_name too; it must be there once`,
  ],
  [
    sentinel({ endpoints: [] }),
    `${AT}.sentinel.endpoints is a list; it must be a list of 1 to 100 texts such as "host:26379"`,
  ],
  [
    sentinel({ endpoints: ["a:1", "b"] }),
    `${AT}.sentinel.endpoints[1] is "b"; it must be a text such as "host:26379"`,
  ],
  [
    sentinel({ endpoints: Array.from({ length: 101 }, () => "a:1") }),
    `${AT}.sentinel.endpoints is a list; it must be a list of 1 to 100 texts such as "host:26379"`,
  ],
  [
    sentinel({ endpoints: ["a:0"] }),
    `${AT}.sentinel.endpoints[0] is "a:0"; it must be a text such as "host:26379"`,
  ],
  [
    sentinel({ endpoints: ["a:65536"] }),
    `${AT}.sentinel.endpoints[0] is "a:65536"; it must be a text such as "host:26379"`,
  ],
  [
    sentinel({ redisAuth: { username: "u" } }),
    `${AT}.sentinel.redisAuth.username is there without a password; it must have one`,
  ],
  [
    sentinel({ redis_tls: { cert_secret: "PEM" } }),
    `${AT}.sentinel.redis_tls.cert_secret is there without keySecret; it must have one`,
  ],
  [
    sentinel({ redisTLS: { keySecret: "PEM" } }),
    `${AT}.sentinel.redisTLS.keySecret is there without certSecret; it must have one`,
  ],
  [
    sentinel({ redisTLS: { insecureSkipVerify: 1 } }),
    `${AT}.sentinel.redisTLS.insecureSkipVerify is 1; it must be true or false`,
  ],
  [
    sentinel({ redisAuth: { password: { name: "redis" } } }),
    `${PASSWORD} has no key; it must be a reference { name, key }`,
  ],
  [
    sentinel({ redisAuth: { password: { key: "pw" } } }),
    `${PASSWORD} has no name; it must be a reference { name, key }`,
  ],
  [
    sentinel({ redisAuth: { password: { name: "redis", key: "pw", file: "x" } } }),
    `${PASSWORD}.file is not known; known are name, key, optional`,
  ],
  [
    sentinel({ redisAuth: { password: " \n" } }),
    `${PASSWORD} is empty; it must be a text or a reference { name, key }`,
  ],
  [
    sentinel({ redisAuth }),
    `${REFERENCE}, which is read by Kubernetes only; pass readSecret to read it here, or write the text itself`,
  ],
])("what is wrong with a store is said with its place: %#", (store, message) => {
  expect(errorOf(store)).toBe(message);
});

test.each<[string, ReadSecret, string]>([
  ["finds nothing", () => undefined, `${REFERENCE}, which readSecret does not find`],
  [
    "throws",
    () => {
      throw new RangeError("no such file");
    },
    `${REFERENCE}, which readSecret fails to read`,
  ],
  [
    "reads something else",
    () => JSON.parse("5") as string,
    `${REFERENCE}; readSecret must return its text`,
  ],
  [
    "reads nothing",
    () => "\n",
    `${PASSWORD} is empty; it must be a text or a reference { name, key }`,
  ],
])("a reader of secrets that %s is told of", (_, reader, message) => {
  expect(errorOf(sentinel({ redisAuth }), reader)).toBe(message);
});

const SECRET = "hunter2-hunter2";

test.each([
  single({ url: `redis://:${SECRET}@` }),
  single({ url: `http://:${SECRET}@h` }),
  single({ url: `redis://:${SECRET}@h/x` }),
  single({ url: `redis://:${SECRET}%FF@h` }),
  single({ url: `redis://:${SECRET}@h?a=b` }),
  single({ url: [SECRET] }),
  single({ url: `redis://:${SECRET}@h/1`, db: 2 }),
  sentinel({ redisAuth: SECRET }),
  sentinel({ redisAuth: { username: SECRET } }),
  sentinel({ redisAuth: { password: [SECRET] } }),
  sentinel({ redisTLS: { certSecret: SECRET } }),
  sentinel({ redisTLS: SECRET }),
])("no error shows a secret: %#", (store) => {
  const message = errorOf(store);
  expect(message).toMatch(/^rateLimit\.store/);
  expect(message).not.toContain(SECRET);
});

test.each([
  single({ url: `redis://${SECRET}-user:${SECRET}@h/1` }),
  single({ url: `redis://:${SECRET}@h`, db: 3 }),
  sentinel({
    redisAuth: { username: `${SECRET}-user`, password: SECRET },
    sentinelAuth: { password: SECRET },
    redisTLS: { certSecret: "CERT", keySecret: SECRET },
  }),
])("settings that were read show no secret, however they are printed: %#", (store) => {
  const settings = readRateLimit({ max: 1, store });
  const printed = [
    JSON.stringify(settings),
    inspect(settings, { depth: 10, showHidden: true }),
    format("%o %O %j", settings, settings, settings),
  ];
  for (const text of printed) {
    expect(text).not.toContain(SECRET);
    expect(text).toContain("***");
  }
});

test("a URL that was read shows where the server is", () => {
  const settings = read(single({ url: `redis://user:${SECRET}@h:7/1` }));
  expect(JSON.stringify(settings)).toContain('"redis://***:***@h:7/1"');
});

test.each([
  [{}, ""],
  [{ caCertSecret: "PEM" }, ", and caCertSecret has no effect"],
])("a store that need not prove who it is is doubted: %j", (fields, idle) => {
  const store = sentinel({ redisTLS: { insecureSkipVerify: true, ...fields } });
  expect(readRateLimit({ max: 1, store }).warnings).toEqual([
    `${AT}.sentinel.redisTLS.insecureSkipVerify is true: any server is accepted as the store${idle}`,
  ]);
});

test("any text as a url is one that can be opened, or refused", () => {
  const part = fc.stringMatching(/^[a-z0-9%@:/?#.[\]-]{0,12}$/);
  const url = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.constantFrom("redis", "rediss", "http"), part)
      .map(([to, rest]) => `${to}://${rest}`),
  );
  fc.assert(
    fc.property(url, fc.option(fc.nat(20), { nil: undefined }), (text, db) => {
      const store = errorOf(single(db === undefined ? { url: text } : { url: text, db }));
      if (typeof store === "string") return;
      const href = (store as { url: Secret }).url.reveal();
      expect(new URL(href).hostname).not.toBe("");
      if (db !== undefined) expect(new URL(href).pathname).toBe(`/${db}`);
    }),
    { numRuns: 2000 },
  );
});

test.each<[string, object, object]>([
  ["single", single({ url: "redis://h", db: 3 }), { url: "redis://h/3" }],
  [
    "sentinel",
    sentinel({
      sentinelAuth: { password: "s" },
      redisAuth: { username: "u", password: "p" },
      redisTLS: { caCertSecret: "CA", certSecret: "CERT", keySecret: "KEY" },
      sentinelTLS: {},
    }),
    {
      username: "u",
      password: "p",
      tls: { ca: "CA", cert: "CERT", key: "KEY" },
      sentinel: {
        masterName: "main",
        endpoints: [{ host: "a", port: 26_379 }],
        database: 0,
        password: "s",
        tls: {},
      },
    },
  ],
  [
    "sentinel, for trials",
    sentinel({ redisTLS: { insecureSkipVerify: true } }, 2),
    {
      tls: { insecureSkipVerify: true },
      sentinel: { masterName: "main", endpoints: [{ host: "a", port: 26_379 }], database: 2 },
    },
  ],
])("a store that was read can be opened: %s", (_, store, options) => {
  const settings = read(store);
  expect(settings?.kind === "redis" ? redisOptionsOf(settings) : undefined).toEqual(options);
});
