import { ConcurrencyLimiter, ConfigError, FixedLimit, SluiceLimit } from "@sluice/core";
import type { Clock, LimitAlgorithm } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";

/** Requests in hand at once: a number, `"adaptive"` to find it, or an algorithm of your choice. */
export type InboundLimit = number | "adaptive" | LimitAlgorithm;

export interface InboundConcurrencyOptions {
  readonly limit: InboundLimit;
  /** What a request that finds no room is told to wait; 1000 unless given. */
  readonly retryAfterMs?: number;
}

const KEYS: ReadonlySet<string> = new Set([
  "limit",
  "retryAfterMs",
] satisfies (keyof InboundConcurrencyOptions)[]);

export interface InboundConcurrency {
  readonly limiter: ConcurrencyLimiter;
  readonly retryAfterMs: number;
}

/** A client starts from one; a server that did would refuse its second visitor. */
const ADAPTIVE_BOUNDS = { initialLimit: 20, maxLimit: 1000 };

const RETRY_AFTER_MAX_MS = 86_400_000;

export function createInboundConcurrency(
  clock: Clock,
  setting: InboundLimit | InboundConcurrencyOptions,
): InboundConcurrency {
  const options = isOptions(setting) ? setting : { limit: setting };
  requireKnownKeys("concurrency", options, KEYS);
  const { limit, retryAfterMs = 1000 } = options;
  if (!(retryAfterMs >= 1 && retryAfterMs <= RETRY_AFTER_MAX_MS))
    throw new ConfigError(`retryAfterMs is ${retryAfterMs}; it must be from 1 to a day`);
  return { limiter: new ConcurrencyLimiter(algorithmOf(limit), { clock }), retryAfterMs };
}

function isOptions(
  setting: InboundLimit | InboundConcurrencyOptions,
): setting is InboundConcurrencyOptions {
  // An algorithm has a limit as well.
  return typeof setting === "object" && !("onEnd" in setting);
}

function algorithmOf(limit: InboundLimit): LimitAlgorithm {
  if (typeof limit === "number") return new FixedLimit(limit);
  if (typeof limit === "object") return limit;
  const word: string = limit;
  if (word === "adaptive") return new SluiceLimit(ADAPTIVE_BOUNDS);
  throw new ConfigError(`concurrency is "${word}"; it must be a number or "adaptive"`);
}
