import { ConfigError } from "@sluice/core";
import type { RampOptions } from "@sluice/core";
import { isPoolStore } from "../settings/fleet-options.ts";
import { readRateLimit } from "../settings/rate-limit.ts";
import type { RateLimitBlock } from "../settings/rate-limit.ts";
import type { PoolStore } from "../store/pool-store.ts";

/** Settings that a member is started with, and does not change while it runs. */
const ONLY_AT_START = ["store", "resumedRampUp", "resumeTtl", "ttl"] as const;

/** The text that gives every member its own limits back. */
export const OWN_LIMITS = "";

/**
 * Sets other limits for a whole pool while it runs. Every member follows at its next sync, and so does
 * every process that joins later, whatever it was started with: also those of the next deploy. The
 * limits stay until `clearPoolLimits`, or until the pool had no member for twice the stale age, or for
 * `resumeTtl` if its level is resumed (for a day if it never had one). They survive a store that loses its data while at least one member remembers them.
 * Answers their version.
 *
 * @example
 * const store = redisStore({ url: "redis://127.0.0.1:6379" });
 * await setPoolLimits(store, "shop/payments", { max: 50 });
 * await store.close();
 */
export async function setPoolLimits(
  store: PoolStore,
  pool: string,
  rateLimit: RateLimitBlock,
): Promise<number> {
  requireStore(store);
  readRateLimit(rateLimit);
  const other = ONLY_AT_START.find((key) => rateLimit[key] !== undefined);
  if (other !== undefined)
    throw new ConfigError(
      `rateLimit.${other} cannot be changed while the pool runs; leave it out, and set it where the members are started`,
    );
  return store.setLimits(pool, JSON.stringify(rateLimit));
}

/**
 * Takes back what `setPoolLimits` has set: every member returns to the limits that it was started
 * with, at its next sync. Answers the version of this change.
 */
export async function clearPoolLimits(store: PoolStore, pool: string): Promise<number> {
  requireStore(store);
  return store.setLimits(pool, OWN_LIMITS);
}

/** An address is no store here: a store made of it would never be closed. The address is not shown: it may hold a password. */
function requireStore(store: unknown): void {
  if (isPoolStore(store)) return;
  throw new ConfigError(
    "store is no store; it must be what redisStore() or new MemoryStore() return",
  );
}

/** Reads limits of the whole pool; `own` are those that the member was started with. */
export function readPoolLimits(text: string, own: RampOptions): RampOptions {
  return text === OWN_LIMITS ? own : readRateLimit(JSON.parse(text)).ramp;
}
