import type { Loop } from "../measure.ts";
import * as keys from "./many-keys.ts";
import * as own from "./one-key.ts";
import * as peers from "./one-key-peers.ts";
import * as levels from "./three-levels.ts";

/** A thing to measure under the name that the report gives it. */
export interface Named<Make> {
  readonly label: string;
  readonly make: Make;
}

type Cases<Make> = Readonly<Record<string, Named<Make>>>;

export const ONE_KEY = {
  cached: { label: "TokenBucket, cached clock", make: own.tryAcquireCached },
  exact: { label: "TokenBucket, exact clock", make: own.tryAcquireExact },
  "levels-charge": {
    label: "3 levels, messages + bytes, chargeAndCheck",
    make: levels.threeLevelsCharge,
  },
  "levels-try": {
    label: "3 levels, messages + bytes, tryAcquire",
    make: levels.threeLevelsTryAcquire,
  },
  fastify: { label: "@fastify/rate-limit LocalStore", make: peers.fastifyLocalStore },
  limiter: { label: "limiter tryRemoveTokens", make: peers.limiter },
  flexible: { label: "rate-limiter-flexible Memory", make: peers.rateLimiterFlexible },
  "p-throttle": { label: "p-throttle", make: peers.pThrottleCall },
} satisfies Cases<() => Loop>;

export const MANY_KEYS = {
  cached: { label: "KeyedBuckets, cached clock", make: keys.keyedBucketsCached },
  exact: { label: "KeyedBuckets, exact clock", make: keys.keyedBucketsExact },
  fastify: { label: "@fastify/rate-limit LocalStore", make: keys.fastifyLocalStoreKeys },
  limiter: { label: "limiter in a Map", make: keys.limiterKeys },
  flexible: { label: "rate-limiter-flexible Memory", make: keys.rateLimiterFlexibleKeys },
} satisfies Cases<() => keys.Touch>;
