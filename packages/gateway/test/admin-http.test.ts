/** The HTTP server under administration: who is served, what a request may cost, wrong input. */
import { EventEmitter, once } from "node:events";
import type { ReadableStreamDefaultReader } from "node:stream/web";
import { connect as connectSocket } from "node:net";
import { createHmac } from "node:crypto";
import { ConfigError } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { EventFeed, json, startAdmin } from "../src/admin.ts";
import type { Answer, Route } from "../src/admin.ts";
import { startBroker } from "../src/index.ts";
import { adminScene } from "./admin-client.ts";

const TOKEN = "a-token-for-tests";
const SECRET = Buffer.alloc(32, 7);
const NS = "/admin/v2/namespaces/public/default/topics";
const LOOKUP = "/lookup/v2/topic/persistent/public/default";

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function jwt(role: string): string {
  const signed = `${part({ alg: "HS256" })}.${part({ sub: role, exp: 4_000_000_000 })}`;
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

test("event streams leave connections to probes, and the next one comes when another has ended", async () => {
  const { url, call } = await adminScene({}, { limits: { streamsMax: 1 } });
  const first = await fetch(`${url}/api/events`);
  expect(first.status).toBe(200);
  const second = await fetch(`${url}/api/events`);
  expect(second.status).toBe(503);
  expect(await second.text()).toMatch(/1 event streams are open already/);
  expect((await call("GET", "/healthz")).status).toBe(200);
  await first.body?.cancel();
  await expect.poll(async () => statusOfStream(`${url}/api/events`), { timeout: 10_000 }).toBe(200);
});

async function statusOfStream(url: string): Promise<number> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
}

describe("who is served", () => {
  /** It was an unhandled rejection, which ends the process. */
  test("an answer that cannot be sent ends its connection alone, and is told", async () => {
    const bad: Route = {
      method: "GET",
      path: "/bad",
      handle: () => ({ status: 200, headers: { "x-name": "two\nlines" } }),
    };
    const { call, errors } = await adminScene({}, { routes: [bad] });
    await expect(call("GET", "/bad")).rejects.toThrow();
    expect(errors).toHaveLength(1);
    expect((await call("GET", "/healthz")).status).toBe(200);
  });

  test("no cache keeps what was told", async () => {
    const { call } = await adminScene({}, {});
    for (const path of ["/metrics", "/api/state", "/api/limits", "/nothing"])
      expect((await call("GET", path)).headers.get("cache-control")).toBe("no-store");
  });

  test("with a token nothing but health is told without it", async () => {
    const { call } = await adminScene({}, { token: TOKEN });
    for (const path of ["/metrics", "/api/state", "/admin/v2/tenants", `${LOOKUP}/t`])
      expect([path, (await call("GET", path)).status]).toEqual([path, 401]);
    expect((await call("GET", "/metrics", undefined, bearer(`${TOKEN}x`))).status).toBe(401);
    expect((await call("GET", "/metrics", undefined, bearer(TOKEN))).status).toBe(200);
    for (const path of ["/healthz", "/readyz", "/admin/v2/brokers/health"])
      expect([path, (await call("GET", path)).status]).toEqual([path, 200]);
  });

  test("a role administers only with that right, and looks up only its own topics", async () => {
    const roles = {
      boss: { admin: true },
      shop: { produce: ["public/default/orders*"] },
    };
    const { call } = await adminScene({ token: { secretKey: SECRET }, roles });
    const get = (path: string, role: string): ReturnType<typeof call> =>
      call("GET", path, undefined, bearer(jwt(role)));
    await call("PUT", "/admin/v2/persistent/public/default/orders-1", {}, bearer(jwt("boss")));
    await call("PUT", "/admin/v2/persistent/public/default/hidden", {}, bearer(jwt("boss")));
    expect((await get("/admin/v2/tenants", "boss")).status).toBe(200);
    expect((await get("/admin/v2/tenants", "shop")).status).toBe(403);
    expect((await get(`${LOOKUP}/orders-1`, "shop")).status).toBe(200);
    expect((await get(`${LOOKUP}/hidden`, "shop")).status).toBe(403);
    expect((await get(`${LOOKUP}/orders-1`, "stranger")).status).toBe(403);
    expect((await get(NS, "shop")).json).toEqual(["persistent://public/default/orders-1"]);
    expect((await call("GET", `${LOOKUP}/orders-1`, undefined, bearer("x.y.z"))).status).toBe(401);
  });

  test("an address that other machines reach needs a token", async () => {
    const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
    onTestFinished(() => broker.close());
    const options = { broker, version: "0" };
    await expect(startAdmin({ ...options, listen: "0.0.0.0:0" })).rejects.toThrow(ConfigError);
    await expect(startAdmin({ ...options, listen: "nowhere" })).rejects.toThrow(
      /127\.0\.0\.1:7070/,
    );
    await expect(startAdmin({ ...options, listen: "0.0.0.0:0", token: "short" })).rejects.toThrow(
      /at least 16/,
    );
    const admin = await startAdmin({ ...options, listen: "0.0.0.0:0", token: TOKEN });
    await admin.close();
  });

  test.each([
    ["a name that was made to point here", { host: "evil.example:80" }, 403],
    ["a page of another origin", { host: "127.0.0.1", origin: "http://evil.example" }, 403],
    ["a page of a file", { host: "127.0.0.1", origin: "null" }, 403],
    ["its own page", { host: "localhost:1", origin: "http://localhost:1" }, 204],
    ["a tool", { host: "[::1]:7070" }, 204],
  ])("on loopback, %s", async (_, headers, status) => {
    const { url } = await adminScene();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const path = "/admin/v2/persistent/public/default/t";
    const answer = await raw(
      url,
      `PUT ${path} HTTP/1.1\r\n${lines.join("")}connection: close\r\n\r\n`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).not.toMatch(/access-control/i);
  });
});

describe("routes", () => {
  test("unknown paths, methods and types are told apart", async () => {
    const { call, url } = await adminScene();
    expect(await call("GET", "/nothing")).toMatchObject({
      status: 404,
      json: {
        reason: expect.stringMatching(
          /^there is no \/nothing; there are .*\/api\/limits/,
        ) as string,
      },
    });
    const wrong = await call("PATCH", "/admin/v2/tenants");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(wrong).toMatchObject({ json: { reason: "this path takes GET, HEAD" } });
    const path = "/admin/v2/persistent/public/default/t/partitions";
    expect((await call("PUT", path, "2", { "content-type": "text/plain" })).status).toBe(415);
    expect(await call("PUT", path, "{")).toMatchObject({
      status: 400,
      json: { reason: "the body is not valid JSON" },
    });
    const head = await fetch(`${url}/admin/v2/tenants`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
      200,
      "10",
      "",
    ]);
    expect((await call("GET", "//admin//v2//tenants/")).status).toBe(200);
    expect((await call("GET", "/admin/v2/tenants/%E0%A4%A")).status).toBe(400);
  });

  test("a topic may be called like a path", async () => {
    const { call } = await adminScene();
    const path = "/admin/v2/persistent/public/default/partitioned";
    expect((await call("PUT", path)).status).toBe(204);
    expect((await call("GET", `${path}/stats`)).status).toBe(200);
  });

  test("are added by others, and a handler that throws is a 500 that tells nothing", async () => {
    const { call, errors } = await adminScene(
      {},
      {
        routes: [
          { method: "GET", path: "/own/{name}", handle: (request) => json(request.param("name")) },
          {
            method: "GET",
            path: "/bad",
            handle: () => {
              throw new TypeError("a secret");
            },
          },
        ],
      },
    );
    expect((await call("GET", "/own/a%20b")).json).toBe("a b");
    const bad = await call("GET", "/bad");
    expect(bad.status).toBe(500);
    expect(bad.text).not.toContain("secret");
    expect(errors).toHaveLength(1);
  });
});

describe("what a request may cost", () => {
  test("a body beyond the bound is refused before it is read", async () => {
    const { url } = await adminScene({}, { limits: { bodyBytesMax: 1_000 } });
    const head = "PUT /admin/v2/persistent/public/default/t HTTP/1.1\r\nhost: localhost\r\n";
    const type = "content-type: application/json\r\ncontent-length: 100000000\r\n\r\n";
    const answer = await raw(url, head + type + "x".repeat(2_000));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain("at most 1000 bytes");
  });

  test("headers that never end are cut off", async () => {
    const { url } = await adminScene({}, { limits: { headersMs: 50, requestMs: 100 } });
    expect(await raw(url, "GET /metrics HTTP/1.1\r\nhost: localhost\r\nx: ")).toMatch(
      /^HTTP\/1\.1 408/,
    );
  });

  test("a body that never ends is cut off", async () => {
    const { url } = await adminScene({}, { limits: { headersMs: 50, requestMs: 100 } });
    const head =
      "PUT /admin/v2/tenants/t HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{";
    expect(await raw(url, head)).toMatch(/^HTTP\/1\.1 408/);
  });

  test("headers beyond the bound are refused", async () => {
    const { url } = await adminScene({}, { limits: { headerBytesMax: 2_048 } });
    const answer = await raw(
      url,
      `GET /metrics HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(4_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
  });

  test("an answer that does not come is a 503", async () => {
    const timer = new VirtualTimer();
    const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
    const asked = new EventEmitter();
    const isAsked = once(asked, "asked");
    const handle = (): Promise<Answer> => {
      asked.emit("asked");
      return new Promise(() => undefined);
    };
    const route = { method: "GET", path: "/slow", handle } as const;
    const admin = await startAdmin(
      { listen: "127.0.0.1:0", broker, version: "0", routes: [route] },
      { timer, wallClock: timer },
    );
    onTestFinished(async () => {
      await admin.close();
      await broker.close();
    });
    const answer = fetch(`${admin.url}/slow`);
    await isAsked;
    await timer.advance(30_000);
    expect((await answer).status).toBe(503);
  });
});

describe("events", () => {
  test("are streamed with those that came before, and those missed are counted", async () => {
    const events = new EventFeed({ now: () => 0 });
    const { url } = await adminScene({}, { events });
    events.push({ kind: "memory-free", bytes: 1 });
    events.push({ kind: "memory-free", bytes: 2 });
    const response = await fetch(`${url}/api/events`, { headers: { "last-event-id": "1" } });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = textsOf(response);
    expect(await reader.until('bytes":2')).not.toContain('"bytes":1');
    // More than a client that reads nothing may keep in memory.
    const long = "x".repeat(10_000);
    for (let count = 0; count < 2_000; count++)
      events.push({ kind: "client-refused", address: long, reason: "" });
    await reader.until("client-refused");
    events.push({ kind: "memory-free", bytes: 3 });
    expect(await reader.until('"bytes":3')).toMatch(/event: missed\ndata: {"events":\d+}/);
    await reader.cancel();
  });

  test("a stream ends when the administration closes", async () => {
    const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
    onTestFinished(() => broker.close());
    const admin = await startAdmin({ listen: "127.0.0.1:0", broker, version: "0" });
    const response = await fetch(`${admin.url}/api/events`);
    await admin.close();
    expect(await response.text()).toContain(": alive");
  });
});

test("the state names topics, connections, memory and version", async () => {
  const { call, connect } = await adminScene();
  const client = await connect();
  await client.createProducer({ topic: "t" });
  const { json: state } = await call("GET", "/api/state");
  expect(state).toMatchObject({
    version: "0.0.0-test",
    connections: { connections: 1, producers: 1 },
    gateway: { upstream: "embedded", urls: [expect.stringMatching(/^pulsar:/) as string] },
    topics: [{ name: "persistent://public/default/t", producers: 1 }],
  });
});

describe("metrics", () => {
  test("are what Prometheus reads, with Pulsar's names", async () => {
    const { call, connect } = await adminScene();
    const client = await connect();
    const topic = 'persistent://public/default/quo"te\\n';
    await client.subscribe({ topic, subscription: "s" });
    const producer = await client.createProducer({ topic });
    await producer.send({ data: Buffer.from("x") });
    const { text, headers } = await call("GET", "/metrics");
    expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const samples = parsePrometheus(text);
    const of = (name: string): unknown => samples.find((sample) => sample.name === name);
    expect(of("pulsar_msg_backlog")).toMatchObject({
      value: 1,
      labels: { topic, cluster: "standalone" },
    });
    expect(of("pulsar_subscription_back_log")).toMatchObject({
      value: 1,
      labels: { subscription: "s" },
    });
    expect(of("pulsar_producers_count")).toMatchObject({ value: 1 });
    expect(of("pulsar_consumers_count")).toMatchObject({ value: 1 });
    expect(of("pulsar_rate_in")).toBeDefined();
    expect(of("pulsar_throughput_in")).toBeDefined();
    expect(of("sluice_connections")).toMatchObject({ value: 1 });
    expect((await call("GET", "/metrics/")).status).toBe(200);
  });

  test("of many topics have a bounded number of series", async () => {
    const { call } = await adminScene();
    const put = (index: number): Promise<unknown> =>
      call("PUT", `/admin/v2/non-persistent/public/default/t${index}`);
    for (let index = 0; index < 1_100; index += 100)
      await Promise.all(Array.from({ length: 100 }, (_, offset) => put(index + offset)));
    const samples = parsePrometheus((await call("GET", "/metrics")).text);
    expect(samples.filter(({ name }) => name === "pulsar_rate_in")).toHaveLength(1_000);
    expect(samples.find(({ name }) => name === "sluice_metrics_left_out_topics")?.value).toBe(100);
  });
});

describe("wrong input", () => {
  const paths = [
    "/admin/v2/persistent/public/default/t",
    "/admin/v2/persistent/public/default/t/partitions",
    "/admin/v2/persistent/public/default/t/subscription/s",
    "/admin/v2/persistent/public/default/t/subscription/s/resetcursor",
    "/admin/v2/persistent/public/default/t/subscription/s/skip/5",
    "/admin/v2/persistent/public/default/t/ledger/0/entry/0",
    "/admin/v2/persistent/public/default/t/backlogQuota",
    "/admin/v2/persistent/public/default/t/retention",
    "/admin/v2/namespaces/public/default/messageTTL",
    "/admin/v2/namespaces/public/other",
    "/admin/v2/namespaces/public/default/permissions/r",
    "/admin/v2/tenants/x",
    "/admin/v2/schemas/public/default/t/schema",
    "/admin/v2/clusters/standalone",
    "/lookup/v2/topic/persistent/public/default/t",
  ];
  const segment = fc.oneof(
    fc.constantFrom(
      "%2F",
      "%252F",
      "..",
      "%00",
      "%E2%82%AC",
      "-1",
      "99999999999999999999",
      "__proto__",
    ),
    fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text)),
  );
  const path = fc
    .tuple(fc.constantFrom(...paths), fc.option(fc.tuple(fc.nat(9), segment)), fc.option(segment))
    .map(([known, replaced, added]) => {
      const segments = known.split("/");
      if (replaced !== null && replaced[0] > 0)
        segments[replaced[0] % segments.length] = replaced[1];
      return `/${[...segments.slice(1), ...(added === null ? [] : [added])].join("/")}`;
    });
  const body = fc.oneof(
    fc.constantFrom("", "null", "{}", "[]", "1", "-1", '"x"', "1e400", "{", '{"ledgerId":1e30}'),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc
      .dictionary(
        fc.constantFrom(
          "ledgerId",
          "entryId",
          "partitions",
          "limit",
          "policy",
          "type",
          "properties",
          "__proto__",
        ),
        fc.jsonValue(),
      )
      .map((value) => JSON.stringify(value)),
  );

  test("never is a 500, and every answer has a form that tools read", async () => {
    const { call, errors } = await adminScene();
    await call("PUT", "/admin/v2/persistent/public/default/t");
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "PUT", "POST", "DELETE"),
        path,
        body,
        async (method, target, content) => {
          const hasBody = method === "PUT" || method === "POST";
          const { status, headers, text } = await call(
            method,
            target,
            hasBody ? content : undefined,
          );
          expect(status).toBeLessThan(500);
          if (text !== "") expect(headers.get("content-type")).toBe("application/json");
          if (status >= 400 && text !== "") expect(text).toMatch(/^\{"reason":"/);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(errors).toEqual([]);
  });

  test.each([
    "GET / HTTP/9.9\r\n\r\n",
    "\u0000\u0001\u0002\r\n\r\n",
    "GET http://x/y HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    "GET /metrics HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n",
    "GET /metrics HTTP/1.1\r\nhost: localhost\r\nhost: b\r\nconnection: close\r\n\r\n",
    "POST /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  ])("%j is refused", async (bytes) => {
    const { url } = await adminScene();
    expect(await raw(url, bytes)).toMatch(/^HTTP\/1\.1 4\d\d /);
  });
});

/** Sends bytes as they are; the answer until the server ends the connection. */
async function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connectSocket(Number(port), hostname);
  let text = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.write(bytes);
  await once(socket, "close");
  return text;
}

interface StreamTexts {
  /** What came up to and with this text. */
  until(text: string): Promise<string>;
  cancel(): Promise<void>;
}

function textsOf(response: Response): StreamTexts {
  if (response.body === null) throw new Error("an answer without a body");
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let pending = "";
  return {
    until: async (text) => {
      while (!pending.includes(text)) {
        const read = await reader.read();
        if (read.done) throw new Error(`the stream ended before ${text}`);
        pending += Buffer.from(read.value).toString();
      }
      const end = pending.indexOf(text) + text.length;
      const found = pending.slice(0, end);
      pending = pending.slice(end);
      return found;
    },
    cancel: () => reader.cancel(),
  };
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Prometheus' text format 0.0.4, strictly: every metric has its type before its first sample. */
function parsePrometheus(text: string): readonly Sample[] {
  expect(text.endsWith("\n")).toBe(true);
  const typed = new Set<string>();
  return text
    .slice(0, -1)
    .split("\n")
    .flatMap((line): readonly Sample[] => {
      const type = /^# TYPE ([a-z_][a-z0-9_]*) (gauge|counter)$/.exec(line);
      if (type?.[1] !== undefined) {
        expect(typed.has(type[1])).toBe(false);
        typed.add(type[1]);
        return [];
      }
      if (/^# HELP [a-z_][a-z0-9_]* .+$/.test(line)) return [];
      const [, name = "", labels = "", value = ""] =
        /^([a-z_][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/.exec(
          line,
        ) ?? [];
      expect([line, typed.has(name)]).toEqual([line, true]);
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(
        ([, key = "", quoted = ""]) => [key, JSON.parse(`"${quoted}"`) as string] as const,
      );
      return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
    });
}
