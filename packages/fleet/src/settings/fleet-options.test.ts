import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_TIMING } from "../ledger/timing.ts";
import type { PoolStore } from "../store/pool-store.ts";
import { readFleetOptions } from "./fleet-options.ts";
import type { FleetOptions, FleetSettings } from "./fleet-options.ts";
import { readRateLimit } from "./rate-limit.ts";

const never = (): Promise<never> => Promise.reject(new Error("not called"));
const store: PoolStore = { sync: never, leave: never, setLimits: never, close: never };

const rateLimit = { max: 1000 };
const redis = { redisStore: { mode: "single", url: "redis://h" } } as const;

/** With what a member needs at least. */
function read(options: object): FleetSettings {
  return readFleetOptions({ pool: "shop/orders", rateLimit, ...options });
}

function errorOf(options: unknown): unknown {
  try {
    return readFleetOptions(options);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

const NO_MAX_MEMBERS =
  "maxMembers is not set: while the store is lost each process has 1/64 of the rate; set it to the most processes that you run";

test("a member with a store has the defaults of the design", () => {
  expect(read({ store })).toEqual({
    pool: "shop/orders",
    member: undefined,
    rateLimit: readRateLimit(rateLimit),
    store,
    redis: undefined,
    replicas: undefined,
    division: "rotate",
    pacing: "smooth",
    membership: {
      timing: DEFAULT_TIMING,
      maxMembers: 64,
      onStoreLoss: "safe-share",
      joinOn: "agreement",
      share: "demand",
      needsRank: false,
    },
    warnings: [NO_MAX_MEMBERS],
  });
});

test.each([100, 1_000, 3_000, 9_999, 60_000])(
  "a lease of %i ms alone gives a timing in the default's proportions",
  (leaseMs) => {
    const { membership } = read({ store, timing: { leaseMs } });
    const { timing } = membership;
    expect(timing.leaseMs).toBe(leaseMs);
    expect(timing.syncIntervalMs).toBe(Math.ceil(leaseMs / 10));
    expect(timing.timeoutMs).toBe(Math.ceil(leaseMs / 20));
    expect(timing.staleMs).toBe(Math.ceil(1.3 * leaseMs));
  },
);

test("every option is read", () => {
  const timing = { syncIntervalMs: 100, leaseMs: 1000, staleMs: 1300, timeoutMs: 60 };
  const options: FleetOptions = {
    pool: "p",
    member: "m-1",
    rateLimit,
    store,
    share: "demand",
    division: "floor",
    pacing: "epoch",
    maxMembers: 16,
    onStoreLoss: "closed",
    joinOn: "safe-share",
    timing,
  };
  expect(readFleetOptions(options)).toMatchObject({
    pool: "p",
    member: "m-1",
    division: "floor",
    pacing: "epoch",
    membership: {
      timing,
      maxMembers: 16,
      onStoreLoss: "closed",
      joinOn: "safe-share",
      share: "demand",
      needsRank: true,
    },
  });
});

test("a store may be named by its address or by the options of redisStore", () => {
  const url = "redis://127.0.0.1:6379";
  expect(read({ store: url })).toMatchObject({ store: undefined, redis: { url } });
  expect(read({ store: { url, timeoutMs: 300 } })).toMatchObject({
    redis: { url, timeoutMs: 300 },
  });
});

test("a rate that no store and no number of processes divides is refused", () => {
  expect(errorOf({ pool: "p", rateLimit })).toMatch(
    /^store and replicas are both missing, so every process would have the whole rate; name a store /,
  );
});

test("times that are not given are the usual ones", () => {
  expect(read({ store, timing: { syncIntervalMs: 250 } }).membership.timing).toEqual({
    ...DEFAULT_TIMING,
    syncIntervalMs: 250,
  });
});

test("a number of replicas needs no store", () => {
  expect(read({ replicas: 4 })).toMatchObject({ replicas: 4, store: undefined, warnings: [] });
});

test("without a rateLimit there is no limit, and nothing to doubt", () => {
  expect(readFleetOptions({ pool: "p" })).toMatchObject({ rateLimit: undefined, warnings: [] });
});

test("a secret of the block's store is read by the reader that is passed", () => {
  const redisAuth = { password: { name: "redis", key: "pw" } };
  const sentinel = { masterName: "m", endpoints: ["h:1"], redisAuth };
  const options = {
    pool: "p",
    rateLimit: { ...rateLimit, store: { redisStore: { mode: "sentinel", sentinel } } },
  };
  const settings = readFleetOptions(options, { readSecret: ({ key }) => key });
  const found = settings.rateLimit?.store;
  const isSentinel = found?.kind === "redis" && found.mode === "sentinel";
  expect(isSentinel && found.redis.auth?.password.reveal()).toBe("pw");
});

const BOTH = "a store counts the members itself, so it must be one of them";

test.each<[object, string]>([
  [{ store, replicas: 2 }, `replicas and store are both there; ${BOTH}`],
  [
    { rateLimit: { max: 5, store: redis }, replicas: 2 },
    `replicas and rateLimit.store are both there; ${BOTH}`,
  ],
  [
    { rateLimit: { max: 5, store: redis }, store },
    "store and rateLimit.store are both there; name one store",
  ],
  [{ share: "demand", replicas: 2 }, 'share is "demand"; it must be equal where there is no store'],
  [{ onStoreLoss: "open", replicas: 1 }, "onStoreLoss is there without a store; it must not be"],
  [{ joinOn: "safe-share", replicas: 1 }, "joinOn is there without a store; it must not be"],
  [{ maxMembers: 3, replicas: 3 }, "maxMembers is there without a store; it must not be"],
  [{ timing: {}, replicas: 1 }, "timing is there without a store; it must not be"],
  [
    { replicas: 6, division: "floor", rateLimit: { max: 5 } },
    "replicas is 6; it must be at most max, 5, with division floor: all would get nothing",
  ],
])("a contradiction is refused: %#", (options, message) => {
  expect(errorOf({ pool: "p", rateLimit, ...options })).toBe(message);
});

const NO_STORE =
  'store is no store; it must be an address such as "redis://127.0.0.1:6379", the options of redisStore, or what redisStore() or new MemoryStore() return';

test.each<[object, string | RegExp]>([
  [{ pool: undefined }, "pool is missing; it must be a name"],
  [{ pool: "a b" }, /^the pool is called "a b"; it must be /],
  [{ pool: 5 }, "pool is 5; it must be a text that is not empty"],
  [{ member: "a/b" }, /^the member is called "a\/b"; it must be /],
  [{ store: {} }, NO_STORE],
  [{ store: { password: "secret" } }, NO_STORE],
  [{ replicas: 0 }, "replicas is 0; it must be a whole number from 1 to 1000000"],
  [{ store, maxMembers: 0 }, "maxMembers is 0; it must be a whole number from 1 to 1000"],
  [{ store, maxMembers: "64" }, /^maxMembers is "64"; /],
  [{ division: "round" }, 'division is "round"; it must be rotate or floor'],
  [{ pacing: "smoth" }, 'pacing is "smoth"; it must be epoch or smooth; did you mean smooth?'],
  [{ share: "even" }, 'share is "even"; it must be equal or demand'],
  [
    { store, onStoreLoss: "close" },
    'onStoreLoss is "close"; it must be safe-share, closed or open; did you mean closed?',
  ],
  [
    { store, joinOn: "safeShare" },
    'joinOn is "safeShare"; it must be agreement or safe-share; did you mean safe-share?',
  ],
  [{ store, timing: { leaseMS: 1 } }, "timing.leaseMS is not known; did you mean leaseMs?"],
  [{ store, timing: { leaseMs: "5s" } }, /^timing\.leaseMs is "5s"; it must be a whole number/],
  [
    { store, timing: { leaseMs: 1000, syncIntervalMs: 500 } },
    /^timing: leaseMs is 1000; it must be at least /,
  ],
  [{ store, timing: { staleMs: 5000 } }, /^timing: staleMs is 5000; it must be at least /],
  [{ store, timing: { timeoutMs: 1e9 } }, /^timing: timeoutMs is 1000000000; /],
  [{ rateLimit: { max: 0 } }, /^rateLimit\.max is 0; /],
  [{ rateLimit: null }, /^rateLimit is null; /],
  [{ ratelimit: rateLimit }, "ratelimit is not known; did you mean rateLimit?"],
  [{ resumeTtl: "1s" }, /^resumeTtl is not known; known are pool, member, /],
])("an option that is wrong is refused: %#", (options, message) => {
  const said = errorOf({ pool: "p", rateLimit, ...options });
  if (typeof message === "string") expect(said).toBe(message);
  else expect(said).toMatch(message);
});

test("options that stand elsewhere are named by their place", () => {
  const options = { pool: "p", rateLimit: { max: 0 } };
  expect(() => readFleetOptions(options, { where: "sinks.out" })).toThrow(
    /^sinks\.out\.rateLimit\.max is 0;/,
  );
  expect(() => readFleetOptions({ pool: "p", share: "x" }, { where: "sinks.out" })).toThrow(
    /^sinks\.out\.share /,
  );
});

const ALONE =
  "rateLimit.store is memory: each of several processes would have the whole rate; name a Redis server, or replicas";

const SMALL =
  "rateLimit.max is 63, less than maxMembers, 64: a safe share is less than one token a second";

test.each<[object, string[]]>([
  [{ rateLimit: { max: 1000, store: { inMemoryStore: {} } } }, [ALONE]],
  [{ replicas: 1 }, []],
  [{ store }, [NO_MAX_MEMBERS]],
  [{ store, maxMembers: 8 }, []],
  [{ rateLimit: { max: 1000, store: redis } }, [NO_MAX_MEMBERS]],
  [
    { replicas: 2, rateLimit: { max: 1000, resumedRampUp: true } },
    ["rateLimit.resumedRampUp has no effect without a store that outlives the process"],
  ],
  [{ store, maxMembers: 8, rateLimit: { max: 1000, resumedRampUp: true } }, []],
  [{ store, maxMembers: 64, rateLimit: { max: 63 } }, [SMALL]],
  [{ store, maxMembers: 64, rateLimit: { max: 64 } }, []],
  [{ store, maxMembers: 10, rateLimit: { max: 63 } }, []],
  // A safe share that is never used may be small.
  [{ store, rateLimit: { max: 63 }, onStoreLoss: "closed" }, []],
  [
    { store, rateLimit: { max: 63 }, onStoreLoss: "closed", joinOn: "safe-share" },
    [NO_MAX_MEMBERS, SMALL],
  ],
  [{ replicas: 6, rateLimit: { max: 5 } }, []],
])("what may not be meant is told: %#", (options, warnings) => {
  expect(read(options).warnings).toEqual(warnings);
});

test("any options give settings or a ConfigError", () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>("p", store, rateLimit, 1, "demand", "floor", "open", {
      leaseMs: 9000,
    }),
  );
  const keys = ["pool", "member", "rateLimit", "store", "replicas", "share", "division"];
  const more = ["pacing", "maxMembers", "onStoreLoss", "joinOn", "timing"];
  const options = fc.dictionary(fc.constantFrom(...keys, ...more), value, { maxKeys: 4 });
  const named = options.map((given) => ({ pool: "p", rateLimit, replicas: 1, ...given }));
  let readable = 0;
  fc.assert(
    fc.property(fc.oneof(named, options, fc.jsonValue()), (given) => {
      if (typeof errorOf(given) !== "string") readable++;
    }),
    { numRuns: 2000 },
  );
  expect(readable).toBeGreaterThan(20);
});
