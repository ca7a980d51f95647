import { ConfigError, FixedLimit, InvariantError, MemoryQuotaStore } from "@sluice/core";
import { VirtualClock, VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createInboundLimiter } from "./inbound-limiter.ts";
import type { InboundLimiterOptions } from "./inbound-options.ts";
import type { InboundEvent } from "./observe/event.ts";

const TYPES = "https://iana.org/assignments/http-problem-types#";

test("admitted requests are told the policy, what is left and when more comes", () => {
  const limiter = createInboundLimiter({ rate: "2/min", clock: new VirtualClock() });
  expect(limiter.check("a")).toEqual({
    admitted: true,
    permit: undefined,
    headers: { "RateLimit-Policy": '"default";q=2;w=60', RateLimit: '"default";r=1;t=30' },
  });
  expect(limiter.check("a").headers["RateLimit"]).toBe('"default";r=0;t=30');
  expect(limiter.check("b").headers["RateLimit"]).toBe('"default";r=1;t=30');
});

test("a request over the quota is answered with 429, its policy and the seconds, rounded up", () => {
  const clock = new VirtualClock();
  const limiter = createInboundLimiter({ rate: "2/min", clock });
  limiter.check("a", 2);
  clock.advance(900);
  const refused = limiter.check("a");
  expect(refused).toMatchObject({
    admitted: false,
    status: 429,
    reason: "over-quota",
    retryAfterMs: 29_100,
    headers: {
      "Retry-After": "30",
      RateLimit: '"default";r=0;t=30',
      "RateLimit-Policy": '"default";q=2;w=60',
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
    },
  });
  expect(JSON.parse("body" in refused ? refused.body : "")).toEqual({
    type: `${TYPES}quota-exceeded`,
    title: "Quota exceeded",
    status: 429,
    "violated-policies": ["default"],
  });
});

test("a key that is no text and a cost that is no number are refused with what is expected", () => {
  const limiter = createInboundLimiter({ rate: "1/s" });
  expect(() => limiter.admit(5 as never)).toThrow("key is 5; use a text that tells clients apart");
  expect(() => limiter.admit("ann", "2" as never)).toThrow('cost is "2"; use a whole number');
});

test("a refused request costs nothing, however often it is tried", () => {
  const clock = new VirtualClock();
  const limiter = createInboundLimiter({
    policies: { burst: "1/s", sustained: "3/min" },
    clock,
  });
  expect(limiter.check("a").admitted).toBe(true);
  for (let i = 0; i < 50; i++) expect(limiter.check("a").admitted).toBe(false);
  clock.advance(1000);
  expect(limiter.check("a").headers["RateLimit"]).toBe('"burst";r=0;t=1, "sustained";r=1;t=19');
});

test("a request that costs more than there ever is passes once, and its debt is waited out", () => {
  const clock = new VirtualClock();
  const limiter = createInboundLimiter({ rate: "4/min", clock });
  expect(limiter.check("a", 9).headers["RateLimit"]).toBe('"default";r=0;t=90');
  clock.advance(89_999);
  expect(limiter.check("a").admitted).toBe(false);
  clock.advance(1);
  expect(limiter.check("a").admitted).toBe(true);
});

test("of several policies each that is short is named, and the longest wait is told", () => {
  const clock = new VirtualClock();
  const limiter = createInboundLimiter({
    policies: { burst: "2/s", hourly: "2/h", daily: "100/day" },
    clock,
  });
  limiter.check("a", 2);
  const refused = limiter.check("a");
  expect(refused).toMatchObject({
    retryAfterMs: 1_800_000,
    headers: {
      "Retry-After": "1800",
      RateLimit: '"burst";r=0;t=1, "hourly";r=0;t=1800, "daily";r=98;t=864',
      "RateLimit-Policy": '"burst";q=2;w=1, "hourly";q=2;w=3600, "daily";q=100;w=86400',
    },
  });
  expect("body" in refused && refused.body).toContain('"violated-policies":["burst","hourly"]');
});

test.each([
  [{ limit: 5, periodMs: 250 }, '"default";q=20;w=1'],
  [{ limit: 10, periodMs: 1500 }, '"default";q=13;w=2'],
  [{ limit: 100, periodMs: 1000, burst: 7 }, '"default";q=100;w=1'],
])("%o is announced as %s", (rate, policy) => {
  const limiter = createInboundLimiter({ rate, clock: new VirtualClock() });
  expect(limiter.check("a").headers["RateLimit-Policy"]).toBe(policy);
});

test("over the concurrency it is 503, costs nothing, and a permit that ends makes room", () => {
  const clock = new VirtualClock();
  const limiter = createInboundLimiter({ rate: "10/min", concurrency: 2, clock });
  const first = limiter.check("a");
  limiter.check("b");
  expect(limiter.inFlight).toBe(2);
  const refused = limiter.check("a");
  expect(refused).toMatchObject({
    admitted: false,
    status: 503,
    reason: "concurrency",
    retryAfterMs: 1000,
    headers: { "Retry-After": "1", RateLimit: '"default";r=9;t=6' },
  });
  expect(JSON.parse("body" in refused ? refused.body : "")).toEqual({
    type: `${TYPES}temporary-reduced-capacity`,
    title: "No capacity at the moment",
    status: 503,
  });
  if (first.admitted) first.permit?.end("ok");
  expect(limiter.check("a").headers["RateLimit"]).toBe('"default";r=8;t=6');
});

test("a key over its quota hears of that, not of our lack of room", () => {
  const limiter = createInboundLimiter({
    rate: "1/min",
    concurrency: 1,
    clock: new VirtualClock(),
  });
  limiter.check("a");
  expect(limiter.check("a")).toMatchObject({ status: 429 });
  expect(limiter.check("b")).toMatchObject({ status: 503 });
});

test("with no rate there are no quota fields", () => {
  const limiter = createInboundLimiter({
    concurrency: { limit: new FixedLimit(1), retryAfterMs: 2500 },
    clock: new VirtualClock(),
  });
  expect(limiter.check("a").headers).toEqual({});
  const { headers } = limiter.check("a");
  expect(headers["Retry-After"]).toBe("3");
  expect(headers).not.toHaveProperty("RateLimit");
});

test("an adaptive limit starts with room for many and shrinks when we are busy", () => {
  const clock = new VirtualClock();
  const limiter = createInboundLimiter({ concurrency: "adaptive", clock });
  const startLimit = limiter.concurrencyLimit ?? 0;
  expect(startLimit).toBeGreaterThanOrEqual(10);
  for (let round = 0; round < 20; round++) {
    const served = Array.from({ length: 5 }, () => limiter.check("a"));
    clock.advance(10);
    for (const one of served) if (one.admitted) one.permit?.end(round === 0 ? "ok" : "busy");
  }
  expect(limiter.concurrencyLimit).toBeLessThan(startLimit);
  expect(limiter.inFlight).toBe(0);
});

test("100,000 distinct keys stay within the bound", () => {
  const limiter = createInboundLimiter({ rate: "1/h", maxKeys: 500, clock: new VirtualClock() });
  for (let i = 0; i < 100_000; i++) limiter.check(`key ${i}`);
  expect(limiter.keys).toBe(500);
});

test("long keys are cut to their ends, and still told apart by them", () => {
  const limiter = createInboundLimiter({ rate: "1/h", clock: new VirtualClock() });
  const middle = "x".repeat(10_000);
  expect(limiter.check(`a${middle}z`).admitted).toBe(true);
  expect(limiter.check(`a${middle}y`).admitted).toBe(true);
  expect(limiter.check(`b${middle}z`).admitted).toBe(true);
  expect(limiter.check(`a${middle}xz`).admitted).toBe(false);
});

test.each<[string, InboundLimiterOptions]>([
  ["nothing", {}],
  ["no policies", { policies: {} }],
  ["a rate and policies", { rate: "1/s", policies: { a: "1/s" } }],
  ["a rate that is none", { rate: "fast" }],
  ["a policy without a name", { policies: { "": "1/s" } }],
  ["a policy whose name is no word", { policies: { 'a"b': "1/s" } }],
  ["no keys", { rate: "1/s", maxKeys: 0 }],
  ["half a key", { rate: "1/s", maxKeys: 1.5 }],
  ["no concurrency", { concurrency: 0 }],
  ["half a request", { concurrency: 0.5 }],
  ["a word that is no limit", { concurrency: "auto" as "adaptive" }],
  ["a wait of nothing", { concurrency: { limit: 1, retryAfterMs: 0 } }],
  ["a wait that is no number", { concurrency: { limit: 1, retryAfterMs: Number.NaN } }],
  ["a word that is misspelt", { rate: "1/s", maxKey: 1 } as InboundLimiterOptions],
  ["a wait that is misspelt", { concurrency: { limit: 1, retryAfter: 1 } as { limit: number } }],
  ["a wait of less than nothing", { concurrency: { limit: 1, maxWaitMs: -1 } }],
  ["half a waiter", { concurrency: { limit: 1, maxWaiting: 0.5 } }],
  ["a name that is no word", { rate: "1/s", name: "a b" }],
  ["a store without a quota", { concurrency: 1, store: new MemoryQuotaStore() }],
  [
    "a store on a clock that cannot sleep",
    { rate: "1/s", store: new MemoryQuotaStore(), clock: new VirtualClock() },
  ],
  ["no process", { rate: "1/s", processes: 0 }],
  ["a loss that is no word", { rate: "1/s", onStoreLoss: "shut" as "closed" }],
  ["an observer that is no function", { rate: "1/s", observers: [5] as never }],
])("%s is no setting", (_, options) => {
  expect(() => createInboundLimiter(options)).toThrow(ConfigError);
});

test.each<[unknown, RegExp]>([
  [undefined, /no options; use for instance \{ rate: "100\/min" \}/],
  [{}, /limits nothing; give it a rate/],
  [{ rate: 100 }, /rate is 100; write it as "100\/s"/],
  [
    { rate: createInboundLimiter({ rate: "1/s" }) },
    /rate is an inbound limiter; give it as limiter/,
  ],
  [{ rate: { tryAcquire: () => true } }, /share it with store: redisQuotaStore/],
  [{ rate: "1/s", store: { sync: () => undefined } }, /use redisQuotaStore\(\{ url \}\)/],
  [{ rate: "1/s", store: null }, /use redisQuotaStore\(\{ url \}\)/],
  [
    {
      policies: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, "1/s"])),
      store: new MemoryQuotaStore(),
    },
    /a store takes 16 policies, and there are 17/,
  ],
  [{ policies: ["1/s"] }, /policies is a list; give each a name/],
  [{ concurrency: null }, /concurrency is null; it must be a number/],
  [{ concurrency: {} }, /it must be a number, "adaptive" or \{ limit: 50 \}/],
])("the message about %o has a way out", (options, message) => {
  expect(() => createInboundLimiter(options as InboundLimiterOptions)).toThrow(message);
});

test("observers hear of every decision, and one that throws or rejects changes nothing", () => {
  const events: InboundEvent[] = [];
  const limiter = createInboundLimiter({
    name: "api",
    rate: "1/min",
    clock: new VirtualClock(),
    observers: [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("later")),
      (event) => events.push(event),
    ],
  });
  limiter.check("a");
  limiter.check("a");
  expect(events).toEqual([
    {
      type: "admitted",
      limiter: "api",
      atMs: 0,
      key: "a",
      cost: 1,
      waitedMs: 0,
      inFlight: 0,
      limit: undefined,
    },
    {
      type: "refused",
      limiter: "api",
      atMs: 0,
      key: "a",
      reason: "over-quota",
      violated: ["default"],
      retryAfterMs: 60_000,
      waitedMs: 0,
    },
  ]);
});

test("a quota that runs out while a request waits for its permit is told, and the permit goes on", async () => {
  const timer = new VirtualTimer();
  const limiter = createInboundLimiter({ rate: "2/min", concurrency: 1, clock: timer });
  const first = await limiter.admit("a");
  const second = limiter.admit("a");
  const third = limiter.admit("a");
  const other = limiter.admit("b");
  expect(limiter.waiting).toBe(3);
  if (first.admitted) first.permit?.end("ok");
  const served = await other;
  expect(served).toMatchObject({ admitted: true });
  if (served.admitted) served.permit?.end("ok");
  const next = await second;
  if (next.admitted) next.permit?.end("ok");
  expect(await third).toMatchObject({ admitted: false, status: 429 });
  expect(limiter.inFlight).toBe(0);
});

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("a cost of %d is a mistake", (cost) => {
  const limiter = createInboundLimiter({ rate: "1/s", clock: new VirtualClock() });
  expect(() => limiter.check("a", cost)).toThrow(InvariantError);
});

test("it runs on the real clock unless given another", () => {
  expect(createInboundLimiter({ rate: "1/day" }).check("a").admitted).toBe(true);
});
