import { resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FlowFileError, loadFlow } from "./flow-file.ts";

function problemsOf(text: string): readonly string[] {
  try {
    loadFlow(text, "flow.yaml");
    return [];
  } catch (error) {
    if (error instanceof FlowFileError) return error.problems.map(({ message }) => message);
    throw error;
  }
}

test("a file with a gateway alone has the defaults of the command line", () => {
  expect(loadFlow("gateway: {}", "conf/flow.yaml")).toEqual({
    name: "sluice",
    store: "memory",
    gateway: {
      listen: ["pulsar://127.0.0.1:6650"],
      upstream: "embedded",
      data: { folder: resolve("conf/sluice-data") },
      partitions: {},
      allowAnonymous: false,
    },
    pipelines: {},
    folder: resolve("conf"),
    placeOf: expect.any(Function) as () => string,
  });
});

test("files are taken from the folder of the flow file", () => {
  const text = `
name: shop
store: memory
admin: { listen: 127.0.0.1:0, tokenFile: ./admin.token }
gateway:
  listen: [pulsar://127.0.0.1:0, pulsar+ssl://127.0.0.1:0]
  upstream: embedded
  data: memory
  partitions: { orders: 4 }
  retention: { size: 64MiB, age: 1h }
  auth: { tokenSecretFile: /etc/secret, allowNoExpiry: true, roles: { shop: { produce: ["public/default/*"] } } }
  tls: { cert: cert.pem, key: key.pem }`;
  expect(loadFlow(text, "/srv/flow.yaml")).toMatchObject({
    name: "shop",
    admin: { listen: "127.0.0.1:0", tokenFile: "/srv/admin.token" },
    gateway: {
      data: "memory",
      retention: { size: 64 * 1024 * 1024, age: 3_600_000 },
      auth: {
        tokenSecretFile: "/etc/secret",
        roles: { shop: { produce: ["public/default/*"], consume: [], admin: false } },
      },
      tls: { cert: "/srv/cert.pem", key: "/srv/key.pem" },
    },
  });
});

test("every mistake is reported at once, with its line and what is expected", () => {
  const text = `name: [1]
gatewy: {}
admin: { listn: 7070 }
gateway:
  listen: 5
  upstream: http://other:6650
  partitions: { orders: 0 }
  retention: { size: 64 }
  limits:
    broker: { messages: 5 }
    groups: { analytics: { messages: 100/min }, "a b": { topics: [a/b/c/d], bytes: 5/s } }
    topics: { orders: { byte: 1MB/s }, orders-partition-1: {} }
    conection: {}
pipelines: {}`;
  expect(problemsOf(text)).toEqual([
    "flow.yaml:1: name is [1]; expected one line of text",
    "flow.yaml:2: gatewy is not known here; did you mean gateway? known keys: name, store, admin, gateway, pipelines",
    "flow.yaml:3: admin.listn is not known here; did you mean listen? known keys: listen, advertisedHost, tokenFile, readWithoutToken",
    "flow.yaml:5: gateway.listen is 5; expected an address such as pulsar://127.0.0.1:6650 or pulsar+ssl://127.0.0.1:6651",
    'flow.yaml:6: gateway.upstream is "http://other:6650"; expected embedded, or the URL of a cluster such as pulsar://broker:6650',
    "flow.yaml:7: gateway.partitions.orders is 0; expected a whole number from 1 to 10000",
    "flow.yaml:8: gateway.retention.size is 64; expected a size with its unit, such as 64MiB, 10MB or 512KiB",
    "flow.yaml:10: gateway.limits.broker.messages is 5; expected messages with their period, such as 1000/s or 600/min",
    'flow.yaml:11: gateway.limits.groups.analytics.topics is missing; expected a list of patterns, such as ["public/analytics/*"]',
    'flow.yaml:11: gateway.limits.groups.analytics.messages is "100/min"; expected a whole number of messages per second, such as 1/s or 2/s',
    'flow.yaml:11: gateway.limits.groups["a b"] is "a b"; expected a name of letters, digits and any of - = : . _',
    'flow.yaml:11: gateway.limits.groups["a b"].topics[0] is "a/b/c/d"; expected a pattern of topics such as "public/analytics/*", a namespace or a tenant',
    'flow.yaml:11: gateway.limits.groups["a b"].bytes is "5/s"; expected bytes with their period, such as 10MB/s or 512KiB/s',
    "flow.yaml:12: gateway.limits.topics.orders.byte is not known here; did you mean bytes? known keys: messages, bytes",
    'flow.yaml:12: gateway.limits.topics.orders-partition-1 is "orders-partition-1"; expected one topic, such as "orders" or "public/default/orders", without a partition; a pattern belongs into groups',
    "flow.yaml:12: gateway.limits.topics.orders-partition-1 has no rate; add messages, such as 1000/s, or bytes, such as 10MB/s",
    "flow.yaml:13: gateway.limits.conection is not known here; did you mean connection? known keys: broker, groups, namespaces, topics, topicDefault, connection, memory, maxHoldMs, dispatch, subscribe, throttle",
    "flow.yaml:14: pipelines is empty; expected at least one pipeline, or remove the key",
  ]);
});

test.each([
  ["", /flow.yaml:1: the flow file has neither gateway nor pipelines; expected at least one/],
  ["gateway: { auth: {} }", /flow.yaml:1: gateway.auth has no key/],
  ["gateway: { tls: { cert: a } }", /gateway.tls.key is missing/],
  [
    "gateway: { listen: [http://127.0.0.1:80] }",
    /gateway.listen\[0\] is "http:.*; expected an address/,
  ],
  ["gateway: { listen: pulsar+ssl://127.0.0.1 }", /needs a certificate; add gateway.tls/],
  [
    "gateway: { listen: pulsar://1.2.3.4 }",
    /flow.yaml:1: gateway.listen has .* other machines reach/,
  ],
  [
    "gateway: {}\nadmin: { listen: 7070 }",
    /flow.yaml:2: admin.listen is 7070; expected an address/,
  ],
  ["gateway: {}\nadmin: { listen: 0.0.0.0:70 }", /:2: admin.listen is .* add admin.tokenFile/],
  [
    "gateway: { partitions: { a/b: 2 } }",
    /gateway.partitions\["a\/b"\] is "a\/b"; expected the name/,
  ],
  [
    "gateway: { auth: { tokenSecretFile: s, roles: { r: { consume: [orders] } } } }",
    /roles.r.consume\[0\] is "orders"; expected a pattern/,
  ],
  [
    "gateway: { upstream: http://broker }",
    /upstream is "http:\/\/broker"; expected embedded, or the URL of a cluster such as pulsar:/,
  ],
  ["store: { redis: { url: x } }\ngateway: {}", /:1: store.redis.url is no address of Redis/],
  [
    "store: redis://me:secret@h\ngateway: {}",
    /:1: store is neither memory nor a map; expected mem/,
  ],
  ["store: { redis: {} }\ngateway: {}", /store.redis has not exactly one of url, sentinel and/],
  [
    "gateway: { limits: { broker: { messages: 1/s, shared: true } } }",
    /limits.broker.shared needs a store that other gateways reach; add store: { redis/,
  ],
  [
    "store: { redis: { url: redis://h } }\ngateway: { limits: { groups: { 'a:b': { topics: [a], bytes: 1MB/s, shared: true } } } }",
    /:2: gateway.limits.groups\["a:b"\] cannot be shared: .* use 1 to 64 letters/,
  ],
  [
    "name: my shop\nstore: { redis: { url: redis://h } }\ngateway: { limits: { broker: { bytes: 1MB/s, shared: true } } }",
    /:1: name cannot be shared: .* use 1 to 64 letters/,
  ],
])("%j is wrong", (text, message) => {
  expect(problemsOf(text).join("\n")).toMatch(message);
});

test("a gateway in front of a cluster has limits, and no keys of the embedded broker", () => {
  const text = "gateway: { upstream: pulsar+ssl://a:6651, limits: { broker: { messages: 5/s } } }";
  expect(loadFlow(text, "flow.yaml").gateway).toMatchObject({
    upstream: { url: "pulsar+ssl://a:6651" },
    limits: { broker: { messages: 5 } },
  });
  expect(problemsOf("gateway: { upstream: pulsar://a, partitions: {} }")).toEqual([
    "flow.yaml:1: gateway.partitions is of the embedded broker; remove it, or set upstream: embedded",
  ]);
});

test("limits are read in whole messages and bytes per second", () => {
  const text = `
gateway:
  limits:
    broker: { messages: 50000/s, bytes: 200MB/s }
    groups: { analytics: { topics: ["public/analytics/*"], messages: 5000/s } }
    namespaces: { public/bulk: { bytes: 1MiB/s } }
    topics: { "public/default/orders": { messages: 60000/min, bytes: 10MB/s } }
    topicDefault: { messages: 100/s }
    connection: { pendingMessages: 1000, heldBytes: 16MB }
    memory: 256MB
    maxHoldMs: 5000`;
  expect(loadFlow(text, "flow.yaml").gateway?.limits).toEqual({
    broker: { messages: 50_000, bytes: 200_000_000 },
    groups: { analytics: { topics: ["public/analytics/*"], messages: 5_000 } },
    namespaces: { "public/bulk": { bytes: 1_048_576 } },
    topics: { "public/default/orders": { messages: 1_000, bytes: 10_000_000 } },
    topicDefault: { messages: 100 },
    connection: { pendingMessages: 1_000, heldBytes: 16_000_000 },
    memory: 256_000_000,
    maxHoldMs: 5_000,
  });
});

test("limits of deliveries, of SUBSCRIBE and of connections are those of the broker's options", () => {
  const text = `
gateway:
  connections: { perSecond: 100, perAddressPerSecond: 10 }
  limits:
    dispatch:
      broker: { bytes: 100MB/s }
      topicDefault: { messages: 1000/s }
      subscriptionDefault: { messages: 500/s }
      namespaces: { public/bulk: { messages: 600/min } }
      topics: { orders: { bytes: 1MB/s } }
      subscriptions: { orders: { billing: { messages: 7/s } } }
    subscribe:
      default: { subscribes: 5 }
      topics: { orders: { subscribes: 2, periodMs: 1000 } }`;
  const { limits, connections } = loadFlow(text, "flow.yaml").gateway ?? {};
  expect(connections).toEqual({ perSecond: 100, perAddressPerSecond: 10 });
  expect(limits?.dispatch).toEqual({
    broker: { bytes: 100_000_000 },
    topicDefault: { messages: 1_000 },
    subscriptionDefault: { messages: 500 },
    namespaces: { "public/bulk": { messages: 10 } },
    topics: { orders: { bytes: 1_000_000 } },
    subscriptions: { orders: { billing: { messages: 7 } } },
  });
  expect(limits?.subscribe).toEqual({
    default: { subscribes: 5 },
    topics: { orders: { subscribes: 2, periodMs: 1_000 } },
  });
  const wrong = `gateway:
  limits:
    dispatch: { topics: { orders: {} }, subscriptions: { orders: { s: { messages: 5 } } } }
    subscribe: { default: { periodMs: 5 } }
  connections: { perSecond: 1/s }`;
  expect(problemsOf(wrong).map((line) => line.slice(0, 70))).toEqual([
    "flow.yaml:3: gateway.limits.dispatch.topics.orders has no rate; add me",
    "flow.yaml:3: gateway.limits.dispatch.subscriptions.orders.s.messages i",
    "flow.yaml:4: gateway.limits.subscribe.default.subscribes is missing; e",
    'flow.yaml:5: gateway.connections.perSecond is "1/s"; expected a whole ',
  ]);
});

test.each([
  ["{ url: redis://h:6379/1 }", { url: "redis://h:6379/1" }],
  [
    "{ sentinel: { masterName: m, endpoints: [{ host: a, port: 26379 }] }, passwordFile: p }",
    {
      sentinel: { masterName: "m", endpoints: [{ host: "a", port: 26_379 }] },
      passwordFile: "/srv/p",
    },
  ],
  [
    "{ cluster: { nodes: [{ host: a, port: 1 }] }, tls: true }",
    { cluster: { nodes: [{ host: "a", port: 1 }] }, tls: true },
  ],
])("gateways may meet in the store %s", (redis, expected) => {
  const text = `
store: { redis: ${redis} }
gateway: { limits: { broker: { messages: 1/s, shared: true } }, fleet: { maxMembers: 4 } }`;
  expect(loadFlow(text, "/srv/flow.yaml")).toMatchObject({
    store: { redis: expected },
    gateway: { limits: { broker: { messages: 1, shared: true } }, fleet: { maxMembers: 4 } },
  });
});

test("limits that contradict each other, or limit nothing, are mistakes", () => {
  const text = `gateway:
  limits:
    broker: {}
    groups: { g: { topics: [public/a/*] } }
    memory: 1MB
    topics:
      orders: { messages: 1/s }
      orders-2: { messages: 1/s }
      persistent://public/default/orders: { messages: 2/s }`;
  expect(problemsOf(text)).toEqual([
    "flow.yaml:3: gateway.limits.broker has no rate; add messages, such as 1000/s, or bytes, such as 10MB/s",
    "flow.yaml:4: gateway.limits.groups.g has no rate; add messages, such as 1000/s, or bytes, such as 10MB/s",
    "flow.yaml:5: gateway.limits.memory is 1000000 bytes; expected at least 2MB",
    'flow.yaml:9: gateway.limits.topics["persistent://public/default/orders"] is the topic that "orders" names too; keep one',
  ]);
});

test("any text gives a flow, or an error that names the file", () => {
  const key = fc.constantFrom(
    "name",
    "store",
    "admin",
    "gateway",
    "listen",
    "auth",
    "roles",
    "tls",
    "data",
    "limits",
    "topics",
    "groups",
    "broker",
  );
  const document = fc.dictionary(key, fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })));
  const text = fc.oneof(
    fc.string(),
    document.map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(text, (content) => {
      try {
        loadFlow(content, "flow.yaml");
      } catch (error) {
        expect(error).toBeInstanceOf(FlowFileError);
        expect((error as Error).message).toMatch(/^flow\.yaml:\d+: /);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a cluster has TLS, an allow-list and a style of lookups, with files of the flow file's folder", () => {
  const text = `gateway:
  upstream:
    url: pulsar+ssl://a:6651,b:6651
    tls: { ca: ca.pem, cert: ./own/cert.pem, key: /keys/key.pem }
    allow: { hosts: ["broker-2:6651"], addresses: [10.0.0.0/8, 127.0.0.1] }
    lookup: own-address
    connectMs: 1000`;
  expect(loadFlow(text, "/srv/flow.yaml").gateway?.upstream).toEqual({
    url: "pulsar+ssl://a:6651,b:6651",
    tls: { ca: "/srv/ca.pem", cert: "/srv/own/cert.pem", key: "/keys/key.pem" },
    allow: { hosts: ["broker-2:6651"], addresses: ["10.0.0.0/8", "127.0.0.1"] },
    lookup: "own-address",
    connectMs: 1_000,
  });
});

test("every mistake of a cluster, of the throttle numbers and of contradictions is reported at once", () => {
  const text = `gateway:
  listen: pulsar://0.0.0.0:6650
  upstream:
    url: http://a
    allow: { hosts: [broker], addresses: [10.0.0.0/99] }
    lookup: prox
  limits:
    throttle: { receiptWaitMs: 0, earlyPercent: 101, numbers: { featureFlag: 6 } }
    groups: { a: { topics: [a], messages: 1/s, shared: true } }`;
  expect(problemsOf(text)).toEqual([
    "flow.yaml:2: gateway.listen has pulsar://0.0.0.0:6650, which other machines reach, without tokens and TLS; add gateway.auth or gateway.tls, or allowAnonymous: true",
    'flow.yaml:4: gateway.upstream.url is "http://a"; expected the URL of a cluster such as pulsar://broker:6650',
    'flow.yaml:5: gateway.upstream.allow.hosts[0] is "broker"; expected host:port, such as broker-2:6650',
    'flow.yaml:5: gateway.upstream.allow.addresses[0] is "10.0.0.0/99"; expected an IP address, or a network such as 10.0.0.0/8',
    'flow.yaml:6: gateway.upstream.lookup is "prox"; expected auto or proxy or own-address',
    "flow.yaml:8: gateway.limits.throttle.receiptWaitMs is 0; expected a number from 1 to 1000000000000",
    "flow.yaml:8: gateway.limits.throttle.earlyPercent is 101; expected a percentage above 0 and up to 100",
    "flow.yaml:8: gateway.limits.throttle.numbers.featureFlag is 6; expected a whole number from 100 to 18999",
    "flow.yaml:9: gateway.limits.groups.a.shared needs a store that other gateways reach; add store: { redis: { url: redis://127.0.0.1:6379 } }, or remove it",
  ]);
});

test.each([
  [
    "gateway: { upstream: { url: pulsar://a, tls: { cert: c } } }",
    [
      /upstream.tls is given, but url is "pulsar:\/\/a"; write pulsar\+ssl/,
      /upstream.tls has cert alone; expected both cert and key/,
    ],
  ],
  [
    "gateway: { limits: { throttle: { earlyPercent: 5, resumePercent: 4 } } }",
    [/limits.throttle has a resumePercent below earlyPercent/],
  ],
  [
    "gateway: { limits: { throttle: { numbers: { throttleProducer: 1002 } } } }",
    [/limits.throttle.numbers has the same number/],
  ],
  ["gateway: { limits: { throttle: true } }", [/limits.throttle is true; expected a map/]],
])("%s contradicts itself", (text, expected) => {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(expected.length);
  for (const [index, pattern] of expected.entries()) expect(problems[index]).toMatch(pattern);
});

test("a key of the file says its line; one that the file does not have, none", () => {
  const { placeOf } = loadFlow(
    "gateway:\n  limits:\n    topics:\n      orders: { messages: 1/s }",
    "conf/flow.yaml",
  );
  expect(placeOf(["gateway", "limits", "topics", "orders"])).toBe("conf/flow.yaml:4");
  expect(placeOf(["gateway", "limits", "broker"])).toBeUndefined();
});

const MAPPED = `pipelines:
  p:
    vertices:
      - { name: in, source: { generator: {} } }
      - { name: enrich, map: { module: ./enrich.mjs, threads: 2, memory: 64MiB } }
      - { name: out, sink: { blackhole: {} } }
`;

test("a module of a map that is not there is a mistake, by its path from the folder of the file", () => {
  const asked: string[] = [];
  const isFile = (path: string): boolean => {
    asked.push(path);
    return false;
  };
  expect(() => loadFlow(MAPPED, "/srv/flow.yaml", isFile)).toThrow(
    '/srv/flow.yaml:5: pipelines.p.vertices[1].map.module is "./enrich.mjs", and there is no such file; expected the path of a module, from the folder of the flow file',
  );
  expect(asked).toEqual(["/srv/enrich.mjs"]);
  expect(() => loadFlow(MAPPED, "/srv/flow.yaml", () => true)).not.toThrow();
});

test.each([
  ["threads: 2, ", "", "has memory, which bounds the heap of a thread; add threads"],
  ["64MiB", "1MiB", "has a memory of less than 4MiB"],
  ["blackhole: {}", "stdout:", "sink.stdout is null; expected an empty map, {}"],
])("%s replaced by %s says what is expected", (from, to, expected) => {
  expect(() => loadFlow(MAPPED.replace(from, to), "flow.yaml")).toThrow(expected);
});
