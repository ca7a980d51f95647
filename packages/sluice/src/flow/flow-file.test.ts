import { resolve } from "node:path";
import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FlowFileError, loadFlow } from "./flow-file.ts";

function problemsOf(text: string): readonly string[] {
  try {
    loadFlow(text, "flow.yaml");
    return [];
  } catch (error) {
    if (error instanceof FlowFileError) return error.problems;
    throw error;
  }
}

test("a file with a gateway alone has the defaults of the command line", () => {
  expect(loadFlow("gateway: {}", "conf/flow.yaml")).toEqual({
    name: "sluice",
    gateway: {
      listen: ["pulsar://127.0.0.1:6650"],
      upstream: "embedded",
      data: { folder: resolve("conf/sluice-data") },
      partitions: {},
      allowAnonymous: false,
    },
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
  upstream: pulsar://other:6650
  partitions: { orders: 0 }
  retention: { size: 64 }
  limits: { broker: { messages: 5/s } }
pipelines: {}`;
  expect(problemsOf(text)).toEqual([
    "flow.yaml:1: name is [1]; expected one line of text",
    "flow.yaml:2: gatewy is not known here; did you mean gateway? known keys: name, store, admin, gateway, pipelines",
    "flow.yaml:3: admin.listn is not known here; did you mean listen? known keys: listen, advertisedHost, tokenFile",
    "flow.yaml:5: gateway.listen is 5; expected an address such as pulsar://127.0.0.1:6650 or pulsar+ssl://127.0.0.1:6651",
    'flow.yaml:6: gateway.upstream is "pulsar://other:6650"; expected embedded; gateways in front of a cluster come with a later version',
    "flow.yaml:7: gateway.partitions.orders is 0; expected a whole number from 1 to 10000",
    "flow.yaml:8: gateway.retention.size is 64; expected a size with its unit, such as 64MiB, 10MB or 512KiB",
    'flow.yaml:9: gateway.limits is {"broker":{"messages":"5/s"}}; expected nothing yet: limits come with a later version; remove the key',
    "flow.yaml:10: pipelines is {}; expected nothing yet: pipelines come with a later version; remove the key",
  ]);
});

test.each([
  ["", /flow.yaml:1: gateway is missing; expected a map/],
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
  ["store: { redis: { url: x } }\ngateway: {}", /store is .*; expected memory; redis comes with/],
])("%j is wrong", (text, message) => {
  expect(problemsOf(text).join("\n")).toMatch(message);
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
        expect(error instanceof FlowFileError || error instanceof ConfigError).toBe(true);
        expect((error as Error).message).toMatch(/^flow\.yaml:\d+: /);
      }
    }),
    { numRuns: 1_000 },
  );
});
