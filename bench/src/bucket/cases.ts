import type { Loop } from "../measure.ts";
import { KeyWalk } from "./key-walk.ts";
import * as keys from "./many-keys.ts";
import * as own from "./one-key.ts";
import * as peers from "./one-key-peers.ts";
import * as levels from "./three-levels.ts";
import { ACQUIRES_PER_TURN } from "./turns.ts";

export interface SpeedCase {
  readonly label: string;
  readonly make: () => Loop;
}

export interface KeysCase {
  readonly label: string;
  readonly make: () => keys.Touch;
}

export interface AllocationCase extends SpeedCase {
  /** What a reading of the clock allocates is Node's, not ours. */
  readonly clockReadingsPerCall: number;
}

const ONCE_A_TURN = 1 / ACQUIRES_PER_TURN;
const ONCE_A_CALL = 1;

export const ONE_KEY: Readonly<Record<string, SpeedCase>> = {
  cached: { label: "TokenBucket, cached clock", make: own.tryAcquireCached },
  exact: { label: "TokenBucket, exact clock", make: own.tryAcquireExact },
  "levels-charge": { label: "3 levels, chargeAndCheck", make: levels.threeLevelsCharge },
  "levels-try": { label: "3 levels, tryAcquire", make: levels.threeLevelsTryAcquire },
  fastify: { label: "@fastify/rate-limit LocalStore", make: peers.fastifyLocalStore },
  limiter: { label: "limiter tryRemoveTokens", make: peers.limiter },
  flexible: { label: "rate-limiter-flexible consume", make: peers.rateLimiterFlexible },
  "p-throttle": { label: "p-throttle", make: peers.pThrottleCall },
};

export const ONE_KEY_PEERS: readonly string[] = ["fastify", "limiter", "flexible", "p-throttle"];

export const MANY_KEYS: Readonly<Record<string, KeysCase>> = {
  cached: { label: "KeyedBuckets, cached clock", make: keys.keyedBucketsCached },
  exact: { label: "KeyedBuckets, exact clock", make: keys.keyedBucketsExact },
  fastify: { label: "@fastify/rate-limit LocalStore", make: keys.fastifyLocalStoreKeys },
  limiter: { label: "limiter in a Map", make: keys.limiterKeys },
  flexible: { label: "rate-limiter-flexible consume", make: keys.rateLimiterFlexibleKeys },
};

export const MEMORY: Readonly<Record<string, KeysCase>> = {
  keyed: { label: "KeyedBuckets", make: keys.keyedBucketsCached },
  fastify: { label: "@fastify/rate-limit LocalStore", make: keys.fastifyLocalStoreKeys },
  limiter: { label: "limiter in a Map", make: keys.limiterKeys },
  flexible: { label: "rate-limiter-flexible", make: keys.rateLimiterFlexibleKeys },
};

export const ALLOCATION: Readonly<Record<string, AllocationCase>> = {
  "cached-try": {
    label: "TokenBucket.tryAcquire, cached clock",
    make: own.tryAcquireCached,
    clockReadingsPerCall: ONCE_A_TURN,
  },
  "cached-charge": {
    label: "TokenBucket.chargeAndCheck, cached clock",
    make: own.chargeCached,
    clockReadingsPerCall: ONCE_A_TURN,
  },
  "exact-try": {
    label: "TokenBucket.tryAcquire, exact clock",
    make: own.tryAcquireExact,
    clockReadingsPerCall: ONCE_A_CALL,
  },
  "exact-charge": {
    label: "TokenBucket.chargeAndCheck, exact clock",
    make: own.chargeExact,
    clockReadingsPerCall: ONCE_A_CALL,
  },
  "levels-charge": {
    label: "3 levels, chargeAndCheck, cached clock",
    make: levels.threeLevelsCharge,
    clockReadingsPerCall: ONCE_A_TURN,
  },
  "levels-try": {
    label: "3 levels, tryAcquire, cached clock",
    make: levels.threeLevelsTryAcquire,
    clockReadingsPerCall: ONCE_A_TURN,
  },
  keyed: {
    label: "KeyedBuckets.tryAcquire, cached clock",
    make: () => keys.loopOver(new KeyWalk(), keys.keyedBucketsCached()),
    clockReadingsPerCall: ONCE_A_TURN,
  },
};
