import { createInboundLimiter, limitFastify } from "@sluice/egress/server";
import { VirtualClock, VirtualTimer } from "@sluice/core/testing";
import { fastify } from "fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { eventually, Latch } from "./server-loopback.ts";

async function listen(app: FastifyInstance): Promise<string> {
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return app.listen({ host: "127.0.0.1", port: 0 });
}

test("it limits the whole app: its own routes, those of plugins, and those that do not exist", async () => {
  const clock = new VirtualClock();
  const app = fastify();
  await app.register(limitFastify({ rate: "3/min", clock }));
  app.get("/", () => "hello");
  await app.register((inner, _, done) => {
    inner.get("/inner", () => "inner");
    done();
  });
  const url = await listen(app);
  const first = await fetch(url);
  expect(await first.text()).toBe("hello");
  expect(first.headers.get("ratelimit-policy")).toBe('"default";q=3;w=60');
  expect(first.headers.get("ratelimit")).toBe('"default";r=2;t=20');
  expect((await fetch(`${url}/inner`)).headers.get("ratelimit")).toBe('"default";r=1;t=20');
  const missing = await fetch(`${url}/missing`);
  expect(missing.status).toBe(404);
  expect(missing.headers.get("ratelimit")).toBe('"default";r=0;t=20');
  const refused = await fetch(`${url}/inner`);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("20");
  expect(refused.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(await refused.json()).toMatchObject({ status: 429 });
  expect((await fetch(url, { method: "HEAD" })).status).toBe(429);
  clock.advance(20_000);
  expect((await fetch(url)).status).toBe(200);
});

test("the rules see Fastify's request, and the key is the address that it trusts", async () => {
  const app = fastify({ trustProxy: "127.0.0.1" });
  await app.register(
    limitFastify({
      rate: "1/min",
      clock: new VirtualClock(),
      exempt: (request: FastifyRequest) => request.routeOptions.url === "/health",
    }),
  );
  app.get("/", () => "hello");
  app.get("/health", () => "well");
  const url = await listen(app);
  const from = async (address: string): Promise<number> =>
    (await fetch(url, { headers: { "x-forwarded-for": address } })).status;
  expect(await from("198.51.100.7")).toBe(200);
  expect(await from("198.51.100.7")).toBe(429);
  expect(await from("198.51.100.8")).toBe(200);
  expect((await fetch(`${url}/health`)).headers.has("ratelimit")).toBe(false);
});

test("a place is free again once the answer is out, has failed or has lost its client", async () => {
  const limiter = createInboundLimiter({ concurrency: 1, clock: new VirtualClock() });
  const held = new Latch();
  const app = fastify();
  await app.register(limitFastify({ limiter }));
  app.get("/held", async () => {
    await held.opened;
    return "done";
  });
  app.get("/fails", () => Promise.reject(new Error("failed")));
  app.get("/never", () => new Promise(() => undefined));
  const url = await listen(app);
  const first = fetch(`${url}/held`);
  await eventually(() => limiter.inFlight === 1);
  expect((await fetch(`${url}/fails`)).status).toBe(503);
  held.open();
  expect(await (await first).text()).toBe("done");
  await eventually(() => limiter.inFlight === 0);
  expect((await fetch(`${url}/fails`)).status).toBe(500);
  await eventually(() => limiter.inFlight === 0);
  const leave = new AbortController();
  const gone = fetch(`${url}/never`, { signal: leave.signal });
  await eventually(() => limiter.inFlight === 1);
  leave.abort();
  await gone.catch(() => undefined);
  await eventually(() => limiter.inFlight === 0);
});

test("a request waits for its permit, and the answer to a refused one can be another", async () => {
  const timer = new VirtualTimer();
  const limiter = createInboundLimiter({ concurrency: 1, clock: timer });
  const held = new Latch();
  const app = fastify();
  await app.register(
    limitFastify({
      limiter,
      answer: ({ reason }) => ({
        status: 529,
        body: reason,
        headers: { "Content-Type": "text/plain" },
      }),
    }),
  );
  app.get("/held", async () => {
    await held.opened;
    return "done";
  });
  app.get("/", () => "hello");
  const url = await listen(app);
  const first = fetch(`${url}/held`);
  await eventually(() => limiter.inFlight === 1);
  const late = fetch(url);
  await eventually(() => limiter.waiting === 1);
  await timer.advance(1000);
  const refused = await late;
  expect(refused.status).toBe(529);
  expect(refused.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await refused.text()).toBe("concurrency");
  const second = fetch(url);
  await eventually(() => limiter.waiting === 1);
  held.open();
  expect(await (await first).text()).toBe("done");
  expect(await (await second).text()).toBe("hello");
  await eventually(() => limiter.inFlight === 0);
});

test("injected requests end their permits as well", async () => {
  const limiter = createInboundLimiter({
    rate: "5/min",
    concurrency: 1,
    clock: new VirtualClock(),
  });
  const app = fastify();
  await app.register(limitFastify({ limiter }));
  app.get("/", () => "hello");
  for (let i = 0; i < 3; i++) expect((await app.inject("/")).statusCode).toBe(200);
  expect(limiter.inFlight).toBe(0);
});

test("a rule that throws is answered by Fastify", async () => {
  const app = fastify();
  await app.register(limitFastify({ rate: "1/s", cost: () => Number.NaN }));
  app.get("/", () => "hello");
  expect((await app.inject("/")).statusCode).toBe(500);
});
