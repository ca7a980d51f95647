/** The contract on both stores, on a clock of ours; and that both answer alike. */
import { MemoryQuotaStore } from "@sluice/core";
import type { Clock, QuotaStore } from "@sluice/core";
import fc from "fast-check";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quotaKey } from "../src/quota/redis-quota-store.ts";
import { redisQuotaStore, StoreError } from "../src/index.ts";
import type { RedisScriptClient } from "../src/store/redis/connect/library.ts";
import { asking, testQuotaStore } from "./quota-store-contract.ts";
import { NEEDS_REDIS, redisPath, RedisServer, startCluster, until } from "./redis-server.ts";
import { StoreClock } from "./timed-redis.ts";

const isSkipped = redisPath === undefined;

/** Put before a script: its TIME, in milliseconds, is then the last argument. */
const WITH_TIME = `
local server = redis
local redis = {
  call = function(name, ...)
    if name ~= "TIME" then return server.call(name, ...) end
    local ms = tonumber(ARGV[#ARGV])
    return {string.format("%.0f", math.floor(ms / 1000)), string.format("%.0f", ms % 1000 * 1000)}
  end,
}
`;

function timedStore(client: RedisScriptClient, clock: Clock): QuotaStore {
  return redisQuotaStore({
    timeoutMs: 10_000,
    client: {
      evalsha: () => Promise.reject(new Error("NOSCRIPT it has another text here")),
      eval: (script: string, keyCount: number, ...words: string[]) =>
        client.eval(WITH_TIME + script, keyCount, ...words, String(clock.now())),
    },
  });
}

testQuotaStore("a quota store in memory", () => {
  const clock = new StoreClock();
  const store = new MemoryQuotaStore(clock);
  return Promise.resolve({
    store,
    pass: (ms) => clock.advance(ms),
    setBack: (ms) => clock.setBack(ms),
    close: () => store.close(),
  });
});

testQuotaStore(
  `a quota store in Redis${NEEDS_REDIS}`,
  async () => {
    const server = await RedisServer.start();
    const client = new Redis(server.url);
    const clock = new StoreClock();
    return {
      store: timedStore(client, clock),
      pass: (ms) => clock.advance(ms),
      setBack: (ms) => clock.setBack(ms),
      close: async () => {
        client.disconnect();
        await server.stop();
      },
    };
  },
  { isSkipped },
);

testQuotaStore(
  `a quota store in a Redis cluster of three masters${NEEDS_REDIS}`,
  async () => {
    const cluster = await startCluster();
    const client = new Cluster([...cluster.nodes]);
    await until(() => Promise.resolve(client.status === "ready"));
    const clock = new StoreClock();
    return {
      store: timedStore(client, clock),
      pass: (ms) => clock.advance(ms),
      setBack: (ms) => clock.setBack(ms),
      close: async () => {
        client.disconnect();
        await cluster.stop();
      },
    };
  },
  { isSkipped },
);

describe.skipIf(isSkipped)(`quota stores on a real server${NEEDS_REDIS}`, () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test("answer as the one in memory does, to the last digit, whatever happens", async () => {
    let keys = 0;
    const rate = fc.record({
      limit: fc.integer({ min: 1, max: 5000 }),
      periodMs: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1000, 86_400_000)),
      burst: fc.integer({ min: 1, max: 60 }),
    });
    const act = fc.record({
      passMs: fc.oneof(fc.nat(50), fc.nat(3000)),
      needed: fc.nat(20),
      least: fc.nat(20),
      wanted: fc.nat(40),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      unused: fc.option(fc.nat(40), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(rate, { minLength: 1, maxLength: 3 }),
        fc.array(act, { maxLength: 30 }),
        async (rates, acts) => {
          const policies = rates.map((each, i) => ({ ...each, name: `policy-${i}` }));
          const key = `alike ${++keys}`;
          const clock = new StoreClock();
          const memory = new MemoryQuotaStore(clock);
          const redis = timedStore(client, clock);
          let lease = { leased: 0, term: 0 };
          for (const { passMs, unused, least, ...said } of acts) {
            clock.advance(passMs);
            const settled =
              unused === undefined
                ? undefined
                : { ...lease, unused: Math.min(unused, lease.leased) };
            const request = asking({
              key,
              policies,
              ...said,
              least: Math.min(least, said.needed),
              settled,
            });
            const reply = await memory.take(request);
            expect(await redis.take(request)).toEqual(reply);
            lease = reply;
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("keep a key until its quota is full, no longer", async () => {
    const store = redisQuotaStore({ url: server.url });
    await store.take(asking({ key: "ttl", needed: 5 }));
    const ttlMs = Number(await server.command("PTTL", quotaKey("ttl")));
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(502);
    await store.close();
  });

  test("reject with a StoreError when the server is gone, and answer again when it is back", async () => {
    const own = await RedisServer.start();
    const store = redisQuotaStore({ url: own.url });
    expect(await store.take(asking({ key: "a" }))).toMatchObject({ granted: 1 });
    await own.kill();
    await expect(store.take(asking({ key: "a" }))).rejects.toThrow(StoreError);
    await own.restart();
    await until(async () => (await store.take(asking({ key: "a" }))).granted === 1);
    await store.close();
    await own.stop();
  });
});
