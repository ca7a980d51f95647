import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { createInboundLimiter, limitHono } from "@sluice/egress/server";
import { nextTurn } from "@sluice/core/system";
import { VirtualClock } from "@sluice/core/testing";
import { Hono } from "hono";
import type { Context } from "hono";
import { expect, test } from "vitest";
import { eventually, Latch, serve } from "./server-loopback.ts";

const serveApp = (app: Hono): Promise<string> =>
  serve(createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server);

test("on Node a Hono app is limited by address, with the fields on every answer", async () => {
  const clock = new VirtualClock();
  const app = new Hono();
  app.use(limitHono({ rate: "4/min", clock }));
  app.get("/", (c) => c.text("hello"));
  app.get("/raw", () => new Response("raw"));
  app.get("/fails", () => {
    throw new Error("failed");
  });
  app.onError((_, c) => c.text("failed", 500));
  const url = await serveApp(app);
  const first = await fetch(url);
  expect(await first.text()).toBe("hello");
  expect(first.headers.get("ratelimit-policy")).toBe('"default";q=4;w=60');
  expect(first.headers.get("ratelimit")).toBe('"default";r=3;t=15');
  const paths = ["/raw", "/fails", "/missing"];
  for (const [i, path] of paths.entries())
    expect((await fetch(url + path)).headers.get("ratelimit")).toBe(`"default";r=${2 - i};t=15`);
  const refused = await fetch(url);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("15");
  expect(refused.headers.get("content-type")).toBe("application/problem+json");
  expect(await refused.json()).toMatchObject({ status: 429 });
  expect((await fetch(url, { method: "HEAD" })).status).toBe(429);
  expect((await fetch(url, { method: "OPTIONS" })).status).toBe(429);
  clock.advance(15_000);
  expect((await fetch(url)).status).toBe(200);
});

test("on Node a place is free again once the answer is out or has lost its client", async () => {
  const limiter = createInboundLimiter({ concurrency: 1, clock: new VirtualClock() });
  const held = new Latch();
  const app = new Hono();
  app.use(limitHono({ limiter }));
  app.get("/streams", () => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("begun "));
        await held.opened;
        controller.enqueue(new TextEncoder().encode("ended"));
        controller.close();
      },
    });
    return new Response(body);
  });
  app.get("/never", () => new Promise<Response>(() => undefined));
  const url = await serveApp(app);
  const first = await fetch(`${url}/streams`);
  expect(limiter.inFlight).toBe(1);
  expect((await fetch(`${url}/streams`)).status).toBe(503);
  held.open();
  expect(await first.text()).toBe("begun ended");
  await eventually(() => limiter.inFlight === 0);
  const leave = new AbortController();
  const gone = fetch(`${url}/never`, { signal: leave.signal });
  await eventually(() => limiter.inFlight === 1);
  leave.abort();
  await gone.catch(() => undefined);
  await eventually(() => limiter.inFlight === 0);
});

test("on Node an answer counts until its client has taken it, not until it was written", async () => {
  const limiter = createInboundLimiter({ concurrency: 1, clock: new VirtualClock() });
  const app = new Hono();
  app.use(limitHono({ limiter }));
  app.get("/", (c) => c.text("x".repeat(20_000_000)));
  const answer = await fetch(await serveApp(app));
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  expect(limiter.inFlight).toBe(1);
  expect((await answer.text()).length).toBe(20_000_000);
  await eventually(() => limiter.inFlight === 0);
});

test("elsewhere all share one key unless there is a better one", async () => {
  const app = new Hono();
  app.use(
    limitHono({
      rate: "1/min",
      clock: new VirtualClock(),
      key: (c: Context) => c.req.header("x-user"),
    }),
  );
  app.get("/", (c) => c.text("hello"));
  const as = async (headers: Record<string, string>): Promise<number> =>
    (await app.request("/", { headers })).status;
  expect(await as({ "x-user": "ann" })).toBe(200);
  expect(await as({ "x-user": "ann" })).toBe(429);
  expect(await as({ "x-user": "bob" })).toBe(200);
  expect(await as({})).toBe(200);
  expect(await as({})).toBe(429);
});

test("elsewhere an answer is out when its body was read, cancelled, broken, or is none", async () => {
  const limiter = createInboundLimiter({
    rate: "9/min",
    concurrency: 9,
    clock: new VirtualClock(),
  });
  const app = new Hono();
  app.use(limitHono({ limiter }));
  app.get("/text", (c) => c.text("hello"));
  app.get("/none", (c) => c.body(null, 204));
  app.get("/broken", () => {
    const body = new ReadableStream({
      pull: () => {
        throw new Error("broken");
      },
    });
    return new Response(body);
  });
  const text = await app.request("/text");
  expect(limiter.inFlight).toBe(1);
  expect(text.headers.get("ratelimit")).toBe('"default";r=8;t=7');
  expect(text.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await text.text()).toBe("hello");
  expect(limiter.inFlight).toBe(0);
  const cancelled = await app.request("/text");
  expect(limiter.inFlight).toBe(1);
  await cancelled.body?.cancel();
  expect(limiter.inFlight).toBe(0);
  await expect((await app.request("/broken")).text()).rejects.toThrow("broken");
  expect(limiter.inFlight).toBe(0);
  await app.request("/none");
  await app.request("/text", { method: "HEAD" });
  await app.request("/missing", { method: "HEAD" });
  expect(limiter.inFlight).toBe(0);
});

test("what throws past Hono's own handling of errors frees its place", async () => {
  const limiter = createInboundLimiter({ concurrency: 9, clock: new VirtualClock() });
  const app = new Hono();
  app.use(limitHono({ limiter }));
  app.get("/", () => Promise.reject("not an error"));
  await Promise.resolve(app.request("/")).catch(() => undefined);
  expect(limiter.inFlight).toBe(0);
});
