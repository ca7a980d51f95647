import { KeyedBuckets } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { systemClock } from "@sluice/core/system";
import { RateLimiter } from "limiter";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Loop } from "../measure.ts";
import { LocalStore } from "../peers/fastify-local-store.ts";
import { KEYS } from "./key-walk.ts";
import type { KeyWalk } from "./key-walk.ts";
import { PLENTY, WINDOW_MS } from "./limits.ts";
import { ACQUIRES_PER_TURN, Turns } from "./turns.ts";

/** Acquires one token of a key and tells whether it was admitted. */
export type Touch =
  | { readonly kind: "sync"; readonly touch: (key: string) => boolean }
  | { readonly kind: "async"; readonly touch: (key: string) => Promise<boolean> };

export function loopOver(walk: KeyWalk, { kind, touch }: Touch): Loop {
  if (kind === "sync") {
    return (count) => {
      let admitted = 0;
      for (let i = 0; i < count; i++) if (touch(walk.next())) admitted++;
      return admitted;
    };
  }
  return async (count) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) if (await touch(walk.next())) admitted++;
    return admitted;
  };
}

export function keyedBucketsCached(): Touch {
  const turns = new Turns();
  const buckets = busyBuckets(turns.clock);
  let acquires = 0;
  return {
    kind: "sync",
    touch: (key) => {
      if (++acquires === ACQUIRES_PER_TURN) {
        acquires = 0;
        turns.end();
      }
      return buckets.tryAcquire(key, SPENT_PER_VISIT);
    },
  };
}

export function keyedBucketsExact(): Touch {
  const buckets = busyBuckets(systemClock);
  return { kind: "sync", touch: (key) => buckets.tryAcquire(key, SPENT_PER_VISIT) };
}

export function fastifyLocalStoreKeys(): Touch {
  const store = new LocalStore(false, false, 2 * KEYS);
  let admitted = false;
  const remember = (_: Error | null, { current }: { readonly current: number }): void => {
    admitted = current <= PLENTY;
  };
  return {
    kind: "sync",
    touch: (key) => {
      store.incr(key, remember, WINDOW_MS, PLENTY);
      return admitted;
    },
  };
}

export function limiterKeys(): Touch {
  const limiters = new Map<string, RateLimiter>();
  return {
    kind: "sync",
    touch: (key) => {
      let limiter = limiters.get(key);
      if (limiter === undefined) {
        limiter = new RateLimiter({ tokensPerInterval: PLENTY, interval: "second" });
        limiters.set(key, limiter);
      }
      return limiter.tryRemoveTokens(1);
    },
  };
}

export function rateLimiterFlexibleKeys(): Touch {
  const rateLimiter = new RateLimiterMemory({ points: PLENTY, duration: WINDOW_MS / 1000 });
  return {
    kind: "async",
    touch: async (key) => {
      const { remainingPoints } = await rateLimiter.consume(key, 1);
      return remainingPoints > 0;
    },
  };
}

/** A key spends more in a visit than it regains until the next: it is never full and forgotten. */
const SPENT_PER_VISIT = 10;
const REGAINED_PER_SECOND = 10;

function busyBuckets(clock: Clock): KeyedBuckets {
  return new KeyedBuckets({
    rate: REGAINED_PER_SECOND,
    capacity: PLENTY,
    initialTokens: PLENTY,
    clock,
  });
}
