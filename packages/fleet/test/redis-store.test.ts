/** The contract, and what is the same on every server, on real servers and a clock of ours. */
import fc from "fast-check";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ledgerKeys } from "../src/store/redis/script/arguments.ts";
import { MemoryStore } from "../src/store/memory-store.ts";
import { PARTS } from "../src/ledger/parts.ts";
import type { LeaveRequest, PoolStore, SyncRequest, Told } from "../src/store/pool-store.ts";
import { testPoolStore } from "./pool-store-contract.ts";
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
  | { readonly kind: "sync"; readonly said: Said }
  | { readonly kind: "leave"; readonly said: Omit<LeaveRequest, "pool" | "resumeTtlMs" | "timing"> }
  | { readonly kind: "limits"; readonly text: string }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "setBack"; readonly ms: number }
  | { readonly kind: "forget"; readonly member: string | undefined }
  | { readonly kind: "restart" };

/** A sync; `held` is what the member was last told if it is not given. */
type Said = Omit<SyncRequest, "pool" | "resumeTtlMs" | "held"> & {
  readonly held: number | undefined;
};

// Long enough that no key runs out by the server's own clock meanwhile.
const TIMING = { syncIntervalMs: 500, leaseMs: 8000, staleMs: 10_000, timeoutMs: 250 };
const RESUME_TTL_MS = 25_000;

const IDS = ["a", "B", "c-1", "c.1", "d"] as const;
const who = { member: fc.constantFrom(...IDS), nonce: fc.constantFrom("1", "1", "1", "2") };
const level = fc.option(fc.oneof(fc.nat(1000), fc.maxSafeNat()), { nil: undefined });
const parts = fc.oneof(fc.nat(10), fc.nat(PARTS), fc.constantFrom(PARTS / 2, PARTS / 4, PARTS));
const rarely = fc.constantFrom(false, false, false, false, true);
const sync: fc.Arbitrary<Said> = fc.record({
  ...who,
  sequence: fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) },
  ),
  isFirst: rarely,
  held: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: parts },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  isHeldUnleased: rarely,
  wanted: fc.oneof(
    { weight: 2, arbitrary: fc.constant(PARTS) },
    { weight: 1, arbitrary: parts },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  safeShare: fc.constantFrom(0, PARTS / 64),
  startsOnSafeShare: rarely,
  needsRank: fc.boolean(),
  level,
  limits: fc.record({
    version: fc.oneof(fc.nat(4), fc.constantFrom(2_000_000_000_000)),
    text: fc.option(fc.string(), { nil: undefined }),
  }),
  timing: fc.constantFrom(...Array.from({ length: 30 }, () => TIMING), {
    ...TIMING,
    leaseMs: 8001,
  }),
});
/** A member that wants everything and holds nothing. */
const CALM = {
  nonce: "1",
  isFirst: false,
  held: 0,
  isHeldUnleased: false,
  wanted: PARTS,
  safeShare: 0,
  startsOnSafeShare: false,
  needsRank: true,
  level: undefined,
  limits: { version: 0, text: undefined },
  timing: TIMING,
  resumeTtlMs: RESUME_TTL_MS,
} as const;
const leave = fc.record({
  ...who,
  level,
  reason: fc.constantFrom<("redeploy" | "pause")[]>("redeploy", "pause"),
});
// Many syncs apart, and close to every age and just beyond it.
const AGES_MS = [
  0, 1, 100, 250, 500, 500, 500, 501, 750, 751, 1500, 2000, 4000, 9150, 9151, 10_000, 10_001,
  20_000, 20_001, 25_000,
];
const someMs = fc.constantFrom(...AGES_MS);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 40, arbitrary: sync.map((said) => ({ kind: "sync" as const, said })) },
  { weight: 3, arbitrary: leave.map((said) => ({ kind: "leave" as const, said })) },
  { weight: 1, arbitrary: fc.string().map((text) => ({ kind: "limits" as const, text })) },
  { weight: 20, arbitrary: someMs.map((ms) => ({ kind: "pass" as const, ms })) },
  { weight: 1, arbitrary: someMs.map((ms) => ({ kind: "setBack" as const, ms })) },
  {
    weight: 1,
    arbitrary: fc
      .option(fc.constantFrom(...IDS), { nil: undefined, freq: 3 })
      .map((member) => ({ kind: "forget" as const, member })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
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

  test.each([1, 2])(
    "a server that evicts key %i of a pool answers as before, and has it again",
    async (key) => {
      const pool = `evicted/${key}`;
      const clock = new StoreClock();
      const { store } = timedStore(client, clock);
      const syncAll = async (sequence: number): Promise<(number | undefined)[]> => {
        const ranks: (number | undefined)[] = [];
        for (const member of ["a", "b", "c"]) {
          const reply = await store.sync({ ...CALM, pool, member, sequence });
          ranks.push(isTold(reply) ? reply.rank : undefined);
        }
        clock.advance(500);
        return ranks;
      };
      let sequence = 0;
      while (++sequence < 40) await syncAll(sequence);
      expect(await syncAll(++sequence)).toEqual([0, 1, 2]);
      await client.del(ledgerKeys(pool)[key] ?? "");
      for (let round = 0; round < 4; round++) await syncAll(++sequence);
      expect(await syncAll(++sequence)).toEqual([0, 1, 2]);
      // Promises still end: a member that fell silent is forgotten.
      for (let round = 0; round < 30; round++) {
        await store.sync({ ...CALM, pool, member: "a", sequence: ++sequence });
        clock.advance(500);
      }
      expect(await store.sync({ ...CALM, pool, member: "a", sequence: ++sequence })).toMatchObject({
        members: 1,
      });
    },
  );

  test("answer the same, to the last digit, whatever happens", async () => {
    let pools = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 120 }), async (actions) => {
        const pool = `model/${++pools}`;
        const clock = new StoreClock();
        const reference = new MemoryStore(clock);
        const redis = timedStore(client, clock);
        const told = new Map<string, number>();
        for (const [index, each] of actions.entries()) {
          if (each.kind === "pass") clock.advance(each.ms);
          else if (each.kind === "setBack") clock.setBack(each.ms);
          else if (each.kind === "restart") {
            redis.restart();
            reference.snapshot()();
          } else if (each.kind === "forget") {
            await redis.forget(pool, each.member);
            reference.forget(pool, each.member);
          } else {
            const asked = completed(each, index, told);
            const reply = await run(reference, asked, pool);
            expect(await run(redis.store, asked, pool)).toEqual(reply);
            if (asked.kind === "sync" && isTold(reply)) told.set(asked.said.member, reply.told);
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});

type Call = Extract<Action, { kind: "leave" | "limits" }> | Sync;
interface Sync {
  readonly kind: "sync";
  readonly said: Omit<SyncRequest, "pool" | "resumeTtlMs">;
}

/** Most syncs are later than all before, and report what the member was told last. */
function completed(
  each: Extract<Action, { kind: "sync" | "leave" | "limits" }>,
  index: number,
  told: ReadonlyMap<string, number>,
): Call {
  if (each.kind !== "sync") return each;
  const { said } = each;
  const sequence = said.sequence === 0 ? 100 + index : said.sequence;
  const held = said.held ?? told.get(said.member) ?? 0;
  return { kind: "sync", said: { ...said, sequence, held } };
}

function isTold(reply: unknown): reply is Told {
  return typeof reply === "object" && reply !== null && "told" in reply;
}

function run(store: PoolStore, asked: Call, pool: string): Promise<unknown> {
  switch (asked.kind) {
    case "sync":
      return store.sync({ ...asked.said, pool, resumeTtlMs: RESUME_TTL_MS });
    case "leave":
      return store.leave({
        ...asked.said,
        pool,
        timing: TIMING,
        resumeTtlMs: RESUME_TTL_MS,
      });
    case "limits":
      return store.setLimits(pool, asked.text);
  }
}
