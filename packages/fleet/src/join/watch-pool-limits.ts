import type { Random, Timer } from "@sluice/core";
import { DEFAULT_TIMING } from "../ledger/timing.ts";
import { readRateLimit } from "../settings/rate-limit.ts";
import type { RateLimitBlock } from "../settings/rate-limit.ts";
import type { KnownLimits, PoolLimits, PoolStore } from "../store/pool-store.ts";
import { nonceOf } from "./nonce.ts";
import { OWN_LIMITS } from "./pool-limits.ts";

/** From one look to the next, ms. Raised, replicas learn later; above 1500 the store forgets a watcher between two looks. */
const LOOK_MS = 1_000;

export interface WatchOptions {
  readonly timer: Timer;
  readonly random: Random;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Limits that are set from now on; undefined: they were cleared. It may not throw. */
  readonly onLimits: (rateLimit: RateLimitBlock | undefined) => void;
  /** The store was asked for the first time, with or without success. */
  readonly onLooked: () => void;
}

/**
 * Follows the limits that `setPoolLimits` and `clearPoolLimits` set for a pool without being limited by it. The watcher is a
 * member that holds and wants nothing, so the store keeps the limits while it watches, and learns them again from it after
 * a loss of its data. A store that cannot be reached is asked again. Resolves when the signal has ended it.
 */
export async function watchPoolLimits(
  store: PoolStore,
  pool: string,
  { timer, random, signal, onLimits, onLooked }: WatchOptions,
): Promise<void> {
  const nonce = nonceOf(random);
  const identity = { pool, member: `w-${nonce.slice(0, 12)}`, nonce };
  const ofPool = { timing: DEFAULT_TIMING, resumeTtlMs: 0 };
  let known: PoolLimits = { version: 0, text: OWN_LIMITS };
  let storeVersion = 0;
  let isFirst = true;
  for (let sequence = 1; !signal.aborted; sequence++) {
    const limits = knownTo(storeVersion, known);
    const reply = await store
      .sync({ ...identity, ...ofPool, ...NOTHING, sequence, isFirst, limits })
      .catch(() => undefined);
    if (reply?.kind === "told") {
      isFirst = false;
      storeVersion = reply.limitsVersion;
      if (reply.limits !== undefined && !isEnded(signal)) {
        known = reply.limits;
        onLimits(rateLimitOf(known.text));
      }
    }
    onLooked();
    await timer.sleep(LOOK_MS, signal).catch(() => undefined);
  }
  await store.leave({ ...identity, ...ofPool, level: undefined, reason: "pause" }).catch(() => {});
}

const NOTHING = {
  held: 0,
  isHeldUnleased: false,
  wanted: 0,
  safeShare: 0,
  startsOnSafeShare: false,
  needsRank: false,
  level: undefined,
} as const;

/** The text is sent only to a store that has lost it. */
function knownTo(storeVersion: number, { version, text }: PoolLimits): KnownLimits {
  return { version, text: storeVersion < version ? text : undefined };
}

/** A function, as the signal may be aborted while a reply is awaited. */
function isEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Undefined also for a text that another version of this program has written and this one cannot read. */
function rateLimitOf(text: string): RateLimitBlock | undefined {
  if (text === OWN_LIMITS) return undefined;
  try {
    const block = JSON.parse(text) as RateLimitBlock;
    readRateLimit(block);
    return block;
  } catch {
    return undefined;
  }
}
