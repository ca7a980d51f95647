import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { throttledFetch } from "@sluice/egress";
import { systemTimer } from "@sluice/core/system";
import { afterEach, expect, test } from "vitest";
import { httpSource } from "../src/connector/http/source/http-source.ts";
import type { HttpSourceOptions } from "../src/connector/http/source/source-options.ts";
import type { Source } from "../src/connector/source.ts";
import { connectorScene, present, readCount, until } from "./connector-scene.ts";
import type { ConnectorScene } from "./connector-scene.ts";
import { sourceContract } from "./source-contract.ts";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

interface SourceScene extends ConnectorScene {
  readonly source: Source;
  readonly url: string;
  readonly port: number;
  readonly post: (
    body: string | Buffer,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>;
}

async function scene(options: Partial<HttpSourceOptions> = {}): Promise<SourceScene> {
  const { context, told } = connectorScene("orders/in");
  const source = await httpSource({ listen: "127.0.0.1:0", path: "/in", ...options }).open(context);
  opened.push(source);
  const [, url = ""] = /at (\S+)$/.exec(told[0]?.text ?? "") ?? [];
  const post: SourceScene["post"] = (body, headers = { "content-type": "application/json" }) =>
    fetch(url, {
      method: "POST",
      body: typeof body === "string" ? body : new Uint8Array(body),
      headers,
    });
  return { context, told, source, url, port: Number(new URL(url).port), post };
}

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const NDJSON = { "content-type": "application/x-ndjson" };

/** Acknowledges one message as soon as it comes. */
async function acknowledgeOne(source: Source): Promise<void> {
  await source.ack(await readCount(source, 1));
}

test("a request is answered 200 once all of its messages are acknowledged, and not before", async () => {
  const { source, post } = await scene();
  let status = 0;
  const posted = post('{"n":1}\n\n{"n":2}\n', NDJSON).then((response) => {
    status = response.status;
    return response.json();
  });
  const [first, second] = await readCount(source, 2);
  expect([first?.value, second?.value]).toEqual([{ n: 1 }, { n: 2 }]);
  await source.ack([present(first)]);
  await systemTimer.sleep(20);
  expect(status).toBe(0);
  await source.ack([present(second)]);
  expect(await posted).toEqual({ acknowledged: 2 });
  expect(status).toBe(200);
});

test('with respond: "accepted" it is answered 202 at once', async () => {
  const { source, post } = await scene({ respond: "accepted" });
  const response = await post("[1,2,3]");
  expect([response.status, await response.json()]).toEqual([202, { accepted: 3 }]);
  const read = await readCount(source, 3);
  expect(read.map(({ value }) => value)).toEqual([1, 2, 3]);
  await source.nack?.(read.slice(0, 1));
  expect((await readCount(source, 1))[0]?.value).toBe(1);
});

test("ids come from the Idempotency-Key, or are unique; key and trace come from the fields", async () => {
  const { source, post } = await scene({ respond: "accepted" });
  const fields = {
    "idempotency-key": "k7",
    "message-key": "ann",
    traceparent: TRACE,
    other: "no",
  };
  await post("[1,2]", { ...fields, "content-type": "application/json" });
  await post("3");
  await post("3");
  const [one, two, three, four] = await readCount(source, 4);
  expect(one).toMatchObject({ id: "k7/0", key: "ann", headers: { traceparent: TRACE } });
  expect(one?.headers["other"]).toBeUndefined();
  expect(two?.id).toBe("k7/1");
  expect(three?.id).not.toBe(four?.id);
});

test.each([
  ["json", "text/plain", '{"a":1}', [{ a: 1 }]],
  ["text", "text/plain", "tea", ["tea"]],
  ["text", "application/x-ndjson", "1\n2\n", ["1", "2"]],
  ["bytes", "application/octet-stream", "tea", [Buffer.from("tea")]],
] as const)("format %s reads %s", async (format, type, body, values) => {
  const { source, post } = await scene({ format, respond: "accepted" });
  await post(body, { "content-type": type });
  expect((await readCount(source, values.length)).map(({ value }) => value)).toEqual(values);
});

test("a full endpoint answers 429 with Retry-After and RateLimit fields, and takes more once it is read", async () => {
  const { source, post } = await scene({ bufferMax: 3, respond: "accepted" });
  expect((await post("[1,2]")).status).toBe(202);
  const refused = await post("[3,4]");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("ratelimit-policy")).toBe('"buffer";q=3');
  expect(refused.headers.get("ratelimit")).toMatch(/^"buffer";r=0;t=\d+$/);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(await refused.json()).toMatchObject({
    status: 429,
    detail: expect.stringContaining(
      "1 of 3 places for messages are free, and 2 are needed",
    ) as string,
  });
  await readCount(source, 2);
  expect((await post("[3,4]")).status).toBe(202);
});

test("a gate of ours waits as long as the endpoint says, and loses nothing", async () => {
  const { source, url } = await scene({ bufferMax: 1, respond: "accepted" });
  const send = throttledFetch({ retry: { attempts: 5, idempotent: true } });
  const startMs = systemTimer.now();
  const reading = readCount(source, 1);
  expect((await send(url, { method: "POST", body: "1" })).status).toBe(202);
  await reading;
  expect((await send(url, { method: "POST", body: "2" })).status).toBe(202);
  const third = send(url, { method: "POST", body: "3" });
  await systemTimer.sleep(50);
  expect((await readCount(source, 1))[0]?.value).toBe(2);
  expect((await third).status).toBe(202);
  expect(systemTimer.now() - startMs).toBeGreaterThanOrEqual(1_000);
  expect((await readCount(source, 1))[0]?.value).toBe(3);
});

test("more requests than may wait are answered 429", async () => {
  const { post } = await scene({ requestsMax: 2 });
  const held = [post("1"), post("2")];
  for (const each of held) each.catch(() => undefined);
  let status = 0;
  await until("the third is refused", () => {
    void post("3")
      .then((response) => (status = response.status))
      .catch(() => undefined);
    return status !== 0;
  });
  expect(status).toBe(429);
});

test.each([
  ["{", "application/json", 400, "no JSON"],
  ['{"a":1}\n{', "application/x-ndjson", 400, "line 2 is no JSON"],
  ["", "application/json", 400, "no JSON"],
  [Buffer.from('"Zürich"', "latin1"), "application/json", 400, "no UTF-8"],
  [Buffer.from('1\n"Zürich"', "latin1"), "application/x-ndjson", 400, "no UTF-8"],
  ["[]", "application/json", 400, "array is empty"],
  ["\n\n", "application/x-ndjson", 400, "no line"],
  [`"${"x".repeat(2_000)}"`, "application/json", 413, "at most 1000 bytes"],
  [JSON.stringify(Array.from({ length: 40 }, () => 1)), "application/json", 413, "40 messages"],
])("%.20j as %s is answered with what is wrong", async (body, type, status, detail) => {
  const { source, post } = await scene({ maxBodyBytes: 1_000, bufferMax: 20 });
  const response = await post(body, { "content-type": type });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({
    detail: expect.stringContaining(detail) as string,
  });
  expect(await source.backlog?.()).toBe(0);
});

test("GET says what this is, other methods and paths are told the right one", async () => {
  const { url } = await scene();
  const got = await fetch(url);
  expect(await got.json()).toMatchObject({
    is: "the source of orders/in, an ingest endpoint of Sluice",
    room: 1_000,
    respond: "acknowledged",
  });
  const deleted = await fetch(url, { method: "DELETE" });
  expect([deleted.status, deleted.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  expect((await fetch(new URL("/other", url), { method: "POST", body: "1" })).status).toBe(404);
  const gzip = { "content-encoding": "gzip" };
  expect((await fetch(url, { method: "POST", body: "1", headers: gzip })).status).toBe(415);
});

test("a token is required where one is set, and where other machines reach the endpoint", async () => {
  const token = "0123456789abcdef";
  const { post, url } = await scene({ token, respond: "accepted" });
  expect((await post("1")).status).toBe(401);
  expect((await post("1", { authorization: "Bearer wrong" })).status).toBe(401);
  expect((await fetch(url)).status).toBe(401);
  expect((await post("1", { authorization: `Bearer ${token}` })).status).toBe(202);
  expect(() => httpSource({ listen: "0.0.0.0:0" })).toThrow(/other machines reach; set a token/);
});

test("a web page posts nothing to an endpoint of this machine, unless anybody may", async () => {
  const { post, url, source } = await scene({ respond: "accepted" });
  const page = { origin: "http://evil.example", "content-type": "text/plain" };
  for (const headers of [page, { origin: "null" }, { "sec-fetch-site": "cross-site" }])
    expect((await post("1", headers)).status).toBe(403);
  expect((await fetch(url, { headers: { "sec-fetch-site": "same-site" } })).status).toBe(403);
  expect(await source.backlog?.()).toBe(0);
  expect((await fetch(url, { headers: { "sec-fetch-site": "none" } })).status).toBe(200);
  const open = await scene({ respond: "accepted", allowAnonymous: true });
  expect((await open.post("1", page)).status).toBe(202);
  const token = "0123456789abcdef";
  const known = await scene({ respond: "accepted", token });
  expect((await known.post("1", { ...page, authorization: `Bearer ${token}` })).status).toBe(202);
});

test("a client that leaves takes back what was not read", async () => {
  const { source, url } = await scene();
  const leave = new AbortController();
  const posted = fetch(url, { method: "POST", body: "[1,2,3]", signal: leave.signal });
  const [first] = await readCount(source, 1);
  leave.abort();
  await expect(posted).rejects.toThrow();
  let queued: number | undefined = 2;
  await until("they are withdrawn", () => {
    void source.backlog?.().then((count) => (queued = count));
    return queued === 0;
  });
  await source.ack([present(first)]);
});

test("messages that are not acknowledged in time are answered 504, and what was not read is forgotten", async () => {
  const { source, post } = await scene({ timeoutMs: 50 });
  const response = await post("1");
  expect(response.status).toBe(504);
  expect(await source.backlog?.()).toBe(0);
});

test("when the pipeline stops reading, requests that come are answered 503 with Retry-After, and those that wait at the close", async () => {
  const { source, post } = await scene();
  const stop = new AbortController();
  const waiting = post("1");
  expect(await source.read(1, { signal: stop.signal, waitMs: 5_000 })).toHaveLength(1);
  stop.abort();
  const late = await post("2");
  expect([late.status, late.headers.get("retry-after")]).toEqual([503, "5"]);
  await source.close();
  expect((await waiting).status).toBe(503);
});

test("garbage instead of HTTP closes its connection and nothing else", async () => {
  const { source, post, port, told } = await scene();
  const serving = acknowledgeOne(source);
  for (const garbage of [
    "\x16\x03\x01\x02\x00",
    "GET",
    "POST /in HTTP/1.1\r\nContent-Length: 99\r\n\r\nshort",
    `POST /in HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `POST /in HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(40_000)}\r\n\r\n`,
  ]) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(garbage);
    socket.destroySoon();
    await once(socket, "close");
  }
  expect((await post("1")).status).toBe(200);
  await serving;
  expect(told.filter(({ level }) => level === "error")).toEqual([]);
});

test("a taken port is told with the way out", async () => {
  const { port } = await scene();
  const again = httpSource({ listen: `127.0.0.1:${port}` }).open(connectorScene().context);
  await expect(again).rejects.toThrow(/EADDRINUSE.*use another port/);
});

/** A client that sends a message until it is acknowledged, as a careful one does. */
async function deliver(url: string, value: string): Promise<void> {
  for (;;) {
    const headers = { "idempotency-key": value, "content-type": "text/plain" };
    const response = await fetch(url, { method: "POST", body: value, headers }).catch(
      () => undefined,
    );
    if (response?.status === 200) return;
    await systemTimer.sleep(10);
    if (isTornDown.has(url)) return;
  }
}

const isTornDown = new Set<string>();

sourceContract("http, with a client that repeats what is not acknowledged", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  const url = `http://127.0.0.1:${port}/`;
  isTornDown.delete(url);
  return {
    connector: httpSource({ listen: `127.0.0.1:${port}`, format: "text" }),
    put: async (values) => {
      for (const value of values) {
        const before = await roomOf(url);
        void deliver(url, value);
        // A source that is not read refuses it; then it is delivered once it is read again.
        for (let tries = 0; tries < 200 && (await roomOf(url)) === before; tries++)
          await systemTimer.sleep(1);
      }
    },
    tearDown: () => {
      isTornDown.add(url);
      return Promise.resolve();
    },
  };
});

async function roomOf(url: string): Promise<number> {
  const { room } = (await (await fetch(url)).json()) as { readonly room: number };
  return room;
}
