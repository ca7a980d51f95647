import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import http2 from "node:http2";
import net from "node:net";
import type { AddressInfo } from "node:net";
import { ConfigError } from "@sluice/core";
import type { LimitAlgorithm } from "@sluice/core";
import { createInboundLimiter, clientKey, limitHttp } from "@sluice/egress/server";
import type { InboundLimiter, RequestRules } from "@sluice/egress/server";
import { VirtualClock, VirtualTimer } from "@sluice/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually, Latch, serve } from "./server-loopback.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

function serveLimited(
  limiter: InboundLimiter,
  handler: Handler,
  rules: RequestRules<IncomingMessage> = {},
): Promise<string> {
  const limit = limitHttp({ ...rules, limiter });
  return serve(
    createServer((request, response) => {
      void limit(request, response, () => void handler(request, response));
    }),
  );
}

const hello: Handler = (_, response) => {
  response.end("hello");
};

test("answers carry the quota, and what is over it is refused and says for how long", async () => {
  const clock = new VirtualClock();
  const url = await serveLimited(createInboundLimiter({ rate: "2/min", clock }), hello);
  const first = await fetch(url);
  expect(await first.text()).toBe("hello");
  expect(first.headers.get("ratelimit-policy")).toBe('"default";q=2;w=60');
  expect(first.headers.get("ratelimit")).toBe('"default";r=1;t=30');
  expect((await fetch(url)).headers.get("ratelimit")).toBe('"default";r=0;t=30');
  const refused = await fetch(url);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(refused.headers.get("ratelimit")).toBe('"default";r=0;t=30');
  expect(refused.headers.get("content-type")).toBe("application/problem+json");
  expect(await refused.json()).toMatchObject({ status: 429, "violated-policies": ["default"] });
  clock.advance(30_000);
  expect((await fetch(url)).status).toBe(200);
});

test("it makes its own limiter from options, and answers whether it admitted", async () => {
  const limit = limitHttp({ rate: "1/day" });
  const url = await serve(
    createServer((request, response) => {
      if (limit(request, response) === true) response.end("admitted");
    }),
  );
  expect(await (await fetch(url)).text()).toBe("admitted");
  expect((await fetch(url)).status).toBe(429);
});

test.each<[string, object]>([
  ["a rule that is misspelt", { rate: "1/s", exmpt: () => true }],
  ["a rate beside a limiter", { limiter: createInboundLimiter({ rate: "1/s" }), rate: "1/s" }],
])("%s is no setting", (_, options) => {
  expect(() => limitHttp(options as { rate: string })).toThrow(ConfigError);
});

test.each<[unknown, RegExp]>([
  [undefined, /limitHttp needs options, such as limitHttp\(\{ rate: "100\/min" \}\)/],
  [createInboundLimiter({ rate: "1/s" }), /write limitHttp\(\{ limiter \}\)/],
  [{ rate: createInboundLimiter({ rate: "1/s" }) }, /give it as limiter: \{ limiter \}/],
  [{ limiter: undefined }, /limiter is undefined; use createInboundLimiter/],
  [{ rate: "1/s", key: "x-user" }, /key is "x-user"; it must be a function of the request/],
  [{ rate: "1/s", cost: 2 }, /cost is 2; it must be a function of the request/],
])("the message about %o has a way out", (options, message) => {
  expect(() => limitHttp(options as { rate: string })).toThrow(message);
});

test("rules see node's request without a type, and the answer can be another", async () => {
  const limit = limitHttp({
    rate: "1/min",
    clock: new VirtualClock(),
    key: (request) => request.headers["x-user"]?.toString(),
    answer: ({ retryAfterMs, reason }, request) => ({
      status: 420,
      headers: { "content-type": "text/plain", "X-Path": request.url ?? "" },
      body: `${reason}: wait ${retryAfterMs / 1000} s`,
    }),
  });
  const url = await serve(
    createServer((request, response) => {
      void limit(request, response, () => response.end("hello"));
    }),
  );
  expect((await fetch(url)).status).toBe(200);
  const refused = await fetch(`${url}/path`);
  expect(refused.status).toBe(420);
  expect(refused.headers.get("content-type")).toBe("text/plain");
  expect(refused.headers.get("x-path")).toBe("/path");
  expect(refused.headers.get("retry-after")).toBe("60");
  expect(await refused.text()).toBe("over-quota: wait 60 s");
});

test("a request waits for its permit, and is served when another answer is out", async () => {
  const timer = new VirtualTimer();
  const limiter = createInboundLimiter({ concurrency: 1, clock: timer });
  const held = new Latch();
  const url = await serveLimited(limiter, async ({ url: path }, response) => {
    if (path === "/held") await held.opened;
    response.end(path);
  });
  const first = fetch(`${url}/held`);
  await eventually(() => limiter.inFlight === 1);
  const second = fetch(`${url}/second`);
  await eventually(() => limiter.waiting === 1);
  held.open();
  expect(await (await first).text()).toBe("/held");
  expect(await (await second).text()).toBe("/second");
  await eventually(() => limiter.inFlight === 0);
});

test("a client that leaves while it waits leaves the queue at once, and is not served", async () => {
  const timer = new VirtualTimer();
  const limiter = createInboundLimiter({ concurrency: 1, clock: timer });
  const held = new Latch();
  const paths: (string | undefined)[] = [];
  const url = await serveLimited(limiter, async ({ url: path }, response) => {
    paths.push(path);
    if (path === "/held") await held.opened;
    response.end(path);
  });
  const first = fetch(`${url}/held`);
  await eventually(() => limiter.inFlight === 1);
  const leave = new AbortController();
  const gone = fetch(`${url}/gone`, { signal: leave.signal }).catch(() => undefined);
  await eventually(() => limiter.waiting === 1);
  leave.abort();
  await gone;
  await eventually(() => limiter.waiting === 0);
  expect(limiter.inFlight).toBe(1);
  held.open();
  await (await first).text();
  await eventually(() => limiter.inFlight === 0);
  expect(await (await fetch(`${url}/next`)).text()).toBe("/next");
  expect(paths).toEqual(["/held", "/next"]);
});

test("HEAD and OPTIONS count as any other, and a refused HEAD has no body", async () => {
  const url = await serveLimited(
    createInboundLimiter({ rate: "2/min", clock: new VirtualClock() }),
    hello,
  );
  const head = await fetch(url, { method: "HEAD" });
  expect(head.headers.get("ratelimit")).toBe('"default";r=1;t=30');
  const options = await fetch(url, { method: "OPTIONS" });
  expect(options.headers.get("ratelimit")).toBe('"default";r=0;t=30');
  const refused = await fetch(url, { method: "HEAD" });
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(await refused.text()).toBe("");
  expect((await fetch(url, { method: "OPTIONS" })).status).toBe(429);
});

test("key, cost and exemption are the request's own", async () => {
  const url = await serveLimited(
    createInboundLimiter({ rate: "3/min", clock: new VirtualClock() }),
    hello,
    {
      key: ({ headers }) => headers["x-user"]?.toString(),
      cost: ({ method }) => (method === "POST" ? 3 : 1),
      exempt: ({ url: path }) => path === "/health",
    },
  );
  const as = (user: string, init?: RequestInit): Promise<Response> =>
    fetch(url, { ...init, headers: { "x-user": user } });
  expect((await as("ann", { method: "POST" })).headers.get("ratelimit")).toMatch(/r=0/);
  expect((await as("ann")).status).toBe(429);
  expect((await as("bob")).status).toBe(200);
  expect((await fetch(url)).headers.get("ratelimit")).toMatch(/r=2/);
  // A name that looks like an address is not that address.
  expect((await as("address 127.0.0.1")).headers.get("ratelimit")).toMatch(/r=2/);
  const health = await fetch(`${url}/health`);
  expect(health.headers.has("ratelimit")).toBe(false);
});

test("behind a proxy the key can be what the proxy saw", async () => {
  const url = await serveLimited(
    createInboundLimiter({ rate: "1/min", clock: new VirtualClock() }),
    hello,
    { key: ({ headers, socket }) => clientKey(socket.remoteAddress, headers["x-forwarded-for"]) },
  );
  const from = async (forwardedFor: string): Promise<number> =>
    (await fetch(url, { headers: { "x-forwarded-for": forwardedFor } })).status;
  expect(await from("198.51.100.7")).toBe(200);
  expect(await from("198.51.100.8")).toBe(200);
  expect(await from("6.6.6.6, 198.51.100.7")).toBe(429);
});

test("over the concurrency it is 503, until an answer is out", async () => {
  const limiter = createInboundLimiter({ concurrency: 1, clock: new VirtualClock() });
  const held = new Latch();
  const url = await serveLimited(limiter, (_, response) => {
    void held.opened.then(() => response.end("done"));
  });
  const first = fetch(url);
  await eventually(() => limiter.inFlight === 1);
  const refused = await fetch(url);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ status: 503 });
  held.open();
  expect(await (await first).text()).toBe("done");
  await eventually(() => limiter.inFlight === 0);
  expect((await fetch(url)).status).toBe(200);
});

test("a streamed answer counts until it ends", async () => {
  const limiter = createInboundLimiter({ concurrency: 5, clock: new VirtualClock() });
  const held = new Latch();
  const url = await serveLimited(limiter, (_, response) => {
    response.write("begun ");
    void held.opened.then(() => response.end("ended"));
  });
  const answer = await fetch(url);
  expect(limiter.inFlight).toBe(1);
  held.open();
  expect(await answer.text()).toBe("begun ended");
  await eventually(() => limiter.inFlight === 0);
});

/** A body whose first part is all that ever comes. */
const endless = (): ReadableStream =>
  new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });

test.each([
  "before the answer",
  "in the middle of the answer",
  "while it sends its own part",
  "after all of its part was read",
])("a client that goes %s frees its place and says nothing of our load", async (moment) => {
  const outcomes: string[] = [];
  const limiter = createInboundLimiter({
    concurrency: noting(outcomes),
    clock: new VirtualClock(),
  });
  const wasRead = new Latch();
  const url = await serveLimited(limiter, (request, response) => {
    if (moment === "in the middle of the answer") response.write("begun");
    if (moment === "after all of its part was read")
      request.resume().on("close", () => wasRead.open());
  });
  const leave = new AbortController();
  const isSending = moment === "while it sends its own part";
  const request = fetch(url, {
    signal: leave.signal,
    ...(isSending ? { method: "POST", body: endless(), duplex: "half" } : {}),
  });
  await eventually(() => limiter.inFlight === 1);
  if (moment === "in the middle of the answer") await request;
  if (moment === "after all of its part was read") await wasRead.opened;
  leave.abort();
  await request.catch(() => undefined);
  await eventually(() => limiter.inFlight === 0);
  expect(outcomes).toEqual(["ignored"]);
});

test("pipelined requests whose turn never comes free their places when the client goes", async () => {
  const limiter = createInboundLimiter({ concurrency: 5, clock: new VirtualClock() });
  const url = await serveLimited(limiter, (request, response) => {
    // The body is read to its end, after which a request says no more of its connection.
    request.resume().on("end", () => {
      if (request.url !== "/slow") response.end("done");
    });
  });
  const client = net.connect(Number(new URL(url).port), "127.0.0.1");
  const paths = ["/slow", "/second", "/third"];
  client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(""));
  await eventually(() => limiter.inFlight === 3);
  client.destroy();
  await eventually(() => limiter.inFlight === 0);
});

test("a request that comes to it only after its client has gone is not counted", async () => {
  const limiter = createInboundLimiter({ concurrency: 5, clock: new VirtualClock() });
  const limit = limitHttp({ limiter });
  const arrived = new Latch();
  let admitted: boolean | Promise<boolean> | undefined;
  const url = await serve(
    createServer((request, response) => {
      response.once("close", () => {
        admitted = limit(request, response);
      });
      arrived.open();
    }),
  );
  const leave = new AbortController();
  const request = fetch(url, { signal: leave.signal });
  await arrived.opened;
  leave.abort();
  await request.catch(() => undefined);
  await eventually(() => admitted !== undefined);
  expect(limiter.inFlight).toBe(0);
});

test("many requests on one connection leave no listeners behind", async () => {
  const limiter = createInboundLimiter({ concurrency: 5, clock: new VirtualClock() });
  const counts = new Set<number>();
  const url = await serveLimited(limiter, (request, response) => {
    counts.add(request.socket.listenerCount("close"));
    response.end();
  });
  for (let i = 0; i < 50; i++) await (await fetch(url)).text();
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

/** A limit that never moves and notes what it is told. */
function noting(outcomes: string[]): LimitAlgorithm {
  return {
    limit: 10,
    pauseMs: () => 0,
    onStart: () => undefined,
    onEnd: ({ outcome }) => {
      outcomes.push(outcome);
      return undefined;
    },
  };
}

test("what a handler answers tells the algorithm how we are", async () => {
  const outcomes: string[] = [];
  const limiter = createInboundLimiter({
    concurrency: noting(outcomes),
    clock: new VirtualClock(),
  });
  const url = await serveLimited(limiter, (request, response) => {
    response.statusCode = Number(request.url?.slice(1));
    response.end();
  });
  for (const status of [200, 404, 429, 500, 503, 504]) {
    await fetch(`${url}/${status}`);
    await eventually(() => limiter.inFlight === 0);
  }
  expect(outcomes).toEqual(["ok", "ignored", "ignored", "ignored", "busy", "busy"]);
});

test("HTTP/2 streams end their permits, answered or cancelled", async () => {
  const outcomes: string[] = [];
  const limiter = createInboundLimiter({
    rate: "9/min",
    concurrency: noting(outcomes),
    clock: new VirtualClock(),
  });
  const limit = limitHttp<http2.Http2ServerRequest>({ limiter });
  const server = http2.createServer((request, response) => {
    void limit(request, response, () => {
      if (request.url === "/answered") response.end("done");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const answered = client.request({ ":path": "/answered" });
  const headers = await new Promise<http2.IncomingHttpHeaders>((resolve) => {
    answered.once("response", resolve).resume();
  });
  expect(headers["ratelimit"]).toBe('"default";r=8;t=7');
  await eventually(() => limiter.inFlight === 0);
  const cancelled = client.request({ ":path": "/cancelled" }).on("error", () => undefined);
  await eventually(() => limiter.inFlight === 1);
  cancelled.close(http2.constants.NGHTTP2_CANCEL);
  await eventually(() => limiter.inFlight === 0);
  expect(outcomes).toEqual(["ok", "ignored"]);
});
