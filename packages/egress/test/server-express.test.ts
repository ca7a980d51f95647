import { createServer } from "node:http";
import { createInboundLimiter, limitHttp } from "@sluice/egress/server";
import { VirtualClock } from "@sluice/core/testing";
import express from "express";
import { expect, test } from "vitest";
import { eventually, serve } from "./server-loopback.ts";

test("an Express app behind it is limited, with the fields on every answer", async () => {
  const clock = new VirtualClock();
  const app = express();
  app.use(limitHttp({ rate: "2/min", clock }));
  app.get("/", (_, response) => response.end("hello"));
  const url = await serve(createServer(app));
  const first = await fetch(url);
  expect(await first.text()).toBe("hello");
  expect(first.headers.get("ratelimit")).toBe('"default";r=1;t=30');
  const missing = await fetch(`${url}/missing`);
  expect(missing.status).toBe(404);
  expect(missing.headers.get("ratelimit")).toBe('"default";r=0;t=30');
  const refused = await fetch(url, { method: "HEAD" });
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  clock.advance(30_000);
  expect((await fetch(url)).status).toBe(200);
});

test("the key is the address that Express trusts", async () => {
  const app = express();
  app.set("trust proxy", 1);
  app.use(limitHttp({ rate: "1/min", clock: new VirtualClock() }));
  app.get("/", (_, response) => response.end());
  const url = await serve(createServer(app));
  const from = async (address: string): Promise<number> =>
    (await fetch(url, { headers: { "x-forwarded-for": address } })).status;
  expect(await from("198.51.100.7")).toBe(200);
  expect(await from("198.51.100.7")).toBe(429);
  expect(await from("198.51.100.8")).toBe(200);
});

test("a handler that fails, at once or later, ends its permit with the answer of the app", async () => {
  const limiter = createInboundLimiter({ concurrency: 3, clock: new VirtualClock() });
  const app = express();
  app.use(limitHttp({ limiter }));
  app.get("/throws", () => {
    throw new Error("at once");
  });
  app.get("/rejects", () => Promise.reject(new Error("later")));
  app.use((_: Error, __: unknown, response: { statusCode: number; end(): void }, ___: unknown) => {
    response.statusCode = 500;
    response.end();
  });
  const url = await serve(createServer(app));
  for (const path of ["/throws", "/rejects"]) expect((await fetch(url + path)).status).toBe(500);
  await eventually(() => limiter.inFlight === 0);
});

test("a rule that throws reaches the app's own handling of errors", async () => {
  const app = express();
  app.use(
    limitHttp({
      rate: "1/s",
      key: () => {
        throw new Error("no key");
      },
    }),
  );
  app.use((error: Error, _: unknown, response: { end(body: string): void }, __: unknown) => {
    response.end(error.message);
  });
  expect(await (await fetch(await serve(createServer(app)))).text()).toBe("no key");
});
