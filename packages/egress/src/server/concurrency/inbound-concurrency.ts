import { ConcurrencyLimiter, ConfigError, FixedLimit, SluiceLimit } from "@sluice/core";
import type { Clock, LimitAlgorithm, Timer } from "@sluice/core";
import { requireKnownKeys, requireNumber, requireWhole } from "@sluice/core/internal";
import { FairPermits } from "./fair-permits.ts";

/** Requests in flight at once: a number, `"adaptive"` to find it, or an algorithm of your choice. */
export type InboundLimit = number | "adaptive" | LimitAlgorithm;

export interface InboundConcurrencyOptions {
  readonly limit: InboundLimit;
  /**
   * Longest wait for a permit, in ms; 0: none waits.
   * @default 1000
   */
  readonly maxWaitMs?: number;
  /**
   * Most requests that wait, of all keys. If that many wait, the key with most waiters loses its newest.
   * @default 100
   */
  readonly maxWaiting?: number;
  /**
   * The `Retry-After` of a refused request, in ms.
   * @default 1000
   */
  readonly retryAfterMs?: number;
}

const KEYS: ReadonlySet<string> = new Set([
  "limit",
  "maxWaitMs",
  "maxWaiting",
  "retryAfterMs",
] satisfies (keyof InboundConcurrencyOptions)[]);

export interface InboundConcurrency {
  readonly limiter: ConcurrencyLimiter;
  readonly permits: FairPermits;
  readonly retryAfterMs: number;
}

/** A client starts from one; a server that did would refuse its second visitor. */
const ADAPTIVE_BOUNDS = { initialLimit: 20, maxLimit: 1000 };

const DAY_MS = 86_400_000;
const WAITING_MAX = 100_000;

/** `timer` times the waits; undefined: none waits. */
export function createInboundConcurrency(
  clock: Clock,
  timer: Timer | undefined,
  setting: InboundLimit | InboundConcurrencyOptions,
): InboundConcurrency {
  const options = isOptions(setting) ? setting : { limit: setting };
  requireKnownKeys("concurrency", options, KEYS);
  const { limit, maxWaitMs = 1000, maxWaiting = 100, retryAfterMs = 1000 } = options;
  requireNumber("concurrency.retryAfterMs", retryAfterMs, 1, DAY_MS);
  requireNumber("concurrency.maxWaitMs", maxWaitMs, 0, DAY_MS);
  requireWhole("concurrency.maxWaiting", maxWaiting, 0, WAITING_MAX);
  const limiter = new ConcurrencyLimiter(algorithmOf(limit), { clock, maxWaiting: 1 });
  const permits = new FairPermits(limiter, { timer, maxWaiting, maxWaitMs });
  return { limiter, permits, retryAfterMs };
}

function isOptions(
  setting: InboundLimit | InboundConcurrencyOptions,
): setting is InboundConcurrencyOptions {
  const found: unknown = setting;
  // An algorithm has a limit as well.
  return typeof found === "object" && found !== null && !("onEnd" in found);
}

function algorithmOf(limit: InboundLimit): LimitAlgorithm {
  if (typeof limit === "number") return new FixedLimit(limit);
  if (limit === "adaptive") return new SluiceLimit(ADAPTIVE_BOUNDS);
  // Programs without types pass null, or a number as text.
  const found: unknown = limit;
  if (typeof found === "object" && found !== null) return limit;
  throw new ConfigError(
    `concurrency is ${JSON.stringify(found)}; it must be a number, "adaptive" or { limit: 50 }`,
  );
}
