/** The contract, and what is the same on every server, on real servers and a clock of ours. */
import fc from "fast-check";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryStore } from "../src/store/memory-store.ts";
import { PARTS } from "../src/store/pool-store.ts";
import type { LeaveRequest, PoolStore, SyncRequest } from "../src/store/pool-store.ts";
import { testPoolStore } from "./pool-store-contract.ts";
import type { StoreUnderTest } from "./pool-store-contract.ts";
import { NEEDS_REDIS, redisPath, RedisServer, startCluster, until } from "./redis-server.ts";
import { StoreClock, timedStore } from "./timed-redis.ts";

const isSkipped = redisPath === undefined;

testPoolStore(
  `a store in Redis${NEEDS_REDIS}`,
  async () => {
    const server = await RedisServer.start();
    const client = new Redis(server.url);
    const tested = timedStore(client);
    return {
      ...tested,
      close: async () => {
        client.disconnect();
        await server.stop();
      },
    };
  },
  { isSkipped },
);

testPoolStore(
  `a store in a Redis cluster of three masters${NEEDS_REDIS}`,
  async () => {
    const cluster = await startCluster();
    const client = new Cluster([...cluster.nodes]);
    await until(() => Promise.resolve(client.status === "ready"));
    const tested = timedStore(client);
    return {
      ...tested,
      close: async () => {
        client.disconnect();
        await cluster.stop();
      },
    };
  },
  { isSkipped },
);

type Action =
  | { readonly kind: "sync"; readonly said: Omit<SyncRequest, "pool" | "times"> }
  | { readonly kind: "leave"; readonly said: Omit<LeaveRequest, "pool" | "resumeTtlMs"> }
  | { readonly kind: "limits"; readonly text: string }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "setBack"; readonly ms: number }
  | { readonly kind: "forget" };

// Long enough that no key runs out by the server's own clock meanwhile.
const TIMES = { staleMs: 10_000, learningMs: 4000, resumeTtlMs: 25_000 };

const who = { member: fc.constantFrom("a", "B", "c-1", "c.1"), nonce: fc.constantFrom("1", "2") };
const level = fc.option(fc.oneof(fc.nat(1000), fc.maxSafeNat()), { nil: undefined });
const parts = fc.oneof(fc.nat(10), fc.nat(PARTS), fc.constantFrom(PARTS / 2, PARTS / 4, PARTS));
const demand = fc.record({
  entitled: parts,
  held: parts,
  wanted: fc.oneof(parts, fc.maxSafeNat()),
});
const sync = fc.record({
  ...who,
  sequence: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  size: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  level,
  limitsVersion: fc.nat(4),
  demand: fc.option(demand, { nil: undefined }),
});
const leave = fc.record({
  ...who,
  level,
  reason: fc.constantFrom<("redeploy" | "pause")[]>("redeploy", "pause"),
});
// Close to every age, and just beyond it.
const AGES_MS = [0, 1, 1000, 3999, 4000, 4001, 6000, 9999, 10_000, 10_001, 20_000, 20_001, 25_000];
const someMs = fc.constantFrom(...AGES_MS);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 12, arbitrary: sync.map((said) => ({ kind: "sync" as const, said })) },
  { weight: 3, arbitrary: leave.map((said) => ({ kind: "leave" as const, said })) },
  { weight: 1, arbitrary: fc.string().map((text) => ({ kind: "limits" as const, text })) },
  { weight: 5, arbitrary: someMs.map((ms) => ({ kind: "pass" as const, ms })) },
  { weight: 1, arbitrary: someMs.map((ms) => ({ kind: "setBack" as const, ms })) },
  { weight: 1, arbitrary: fc.constant({ kind: "forget" as const }) },
);

describe.skipIf(isSkipped)(`Redis and the store in memory${NEEDS_REDIS}`, () => {
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

  test("answer the same, to the last digit, whatever happens", async () => {
    let pools = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const pool = `model/${++pools}`;
        const clock = new StoreClock();
        const reference = new MemoryStore(clock);
        const redis = timedStore(client, clock);
        for (const each of actions) {
          if (each.kind === "pass") clock.advance(each.ms);
          else if (each.kind === "setBack") clock.setBack(each.ms);
          else if (each.kind === "forget") await forget(redis, reference, pool);
          else expect(await run(redis.store, each, pool)).toEqual(await run(reference, each, pool));
        }
      }),
      { numRuns: 400 },
    );
  });
});

function run(
  store: PoolStore,
  asked: Extract<Action, { kind: "sync" | "leave" | "limits" }>,
  pool: string,
): Promise<unknown> {
  switch (asked.kind) {
    case "sync":
      return store.sync({ ...asked.said, pool, times: TIMES });
    case "leave":
      return store.leave({ ...asked.said, pool, resumeTtlMs: TIMES.resumeTtlMs });
    case "limits":
      return store.setLimits(pool, asked.text);
  }
}

async function forget(redis: StoreUnderTest, memory: MemoryStore, pool: string): Promise<void> {
  await redis.forget(pool);
  memory.forget(pool);
}
