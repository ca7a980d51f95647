import { RateLimiter } from "limiter";
import pThrottle from "p-throttle";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Loop } from "../measure.ts";
import { LocalStore } from "../peers/fastify-local-store.ts";
import { PLENTY, WINDOW_MS } from "./limits.ts";

export function fastifyLocalStore(): Loop {
  const store = new LocalStore(false, false);
  let admitted = 0;
  const countAdmitted = (_: Error | null, { current }: { readonly current: number }): void => {
    if (current <= PLENTY) admitted++;
  };
  return (count) => {
    admitted = 0;
    for (let i = 0; i < count; i++) store.incr("key", countAdmitted, WINDOW_MS, PLENTY);
    return admitted;
  };
}

export function limiter(): Loop {
  const rateLimiter = new RateLimiter({ tokensPerInterval: PLENTY, interval: "second" });
  return (count) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) if (rateLimiter.tryRemoveTokens(1)) admitted++;
    return admitted;
  };
}

export function rateLimiterFlexible(): Loop {
  const rateLimiter = new RateLimiterMemory({ points: PLENTY, duration: WINDOW_MS / 1000 });
  return async (count) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) {
      const { remainingPoints } = await rateLimiter.consume("key", 1);
      if (remainingPoints > 0) admitted++;
    }
    return admitted;
  };
}

export function pThrottleCall(): Loop {
  const throttled = pThrottle({ limit: PLENTY, interval: 1000 })((): number | Promise<number> => 1);
  return async (count) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) admitted += await throttled();
    return admitted;
  };
}
