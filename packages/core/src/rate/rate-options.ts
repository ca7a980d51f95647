import { ConfigError, requireDuration, requireKnownKeys, requireWhole } from "../errors.ts";
import { NANOS_PER_MS, SECOND_MS } from "../time.ts";
import { Refill } from "./refill.ts";

/** A rate and the burst that goes with it. */
export interface RateOptions {
  /** Tokens per period, whole. Half a token per second is `{ rate: 1, periodMs: 2000 }`. */
  readonly rate: number;
  /**
   * Duration of one period in milliseconds, exact to the nanosecond.
   * @default 1000
   */
  readonly periodMs?: number;
  /**
   * Most tokens that an idle bucket gathers: the largest burst.
   * @default the rate, also after `setRate`
   */
  readonly capacity?: number;
  /**
   * Balance at the start.
   * @default the smaller of rate and capacity
   */
  readonly initialTokens?: number;
  /**
   * While the balance suffices, tokens are added at most once in this many milliseconds. Raising it
   * makes `chargeAndCheck` late by up to this much; refusals by `tryAcquire` and all questions are
   * always exact. 0 makes `chargeAndCheck` exact too.
   * @default 16
   */
  readonly resolutionMs?: number;
}

export interface BucketOptions extends RateOptions {
  /**
   * Balance at which `throttlingDurationMs` ends, at least 1 and at most the capacity.
   * @default 1 % of the capacity
   */
  readonly targetTokens?: number;
  /**
   * Debt beyond this many tokens is forgiven.
   * @default 2^53, the largest count that doubles hold exactly
   */
  readonly maxDebt?: number;
}

/** Options of all buckets. */
const KEYS: ReadonlySet<string> = new Set<keyof BucketOptions | "clock" | "maxKeys">([
  "rate",
  "periodMs",
  "capacity",
  "initialTokens",
  "resolutionMs",
  "targetTokens",
  "maxDebt",
  "maxKeys",
  "clock",
]);

/** Refuses options that cannot be right. */
export function requireRateOptions(options: RateOptions): void {
  const given: unknown = options;
  if (typeof given !== "object" || given === null)
    throw new ConfigError(`a bucket has no options; use for instance { rate: 100 }`);
  requireKnownKeys("a bucket", options, KEYS);
  const { rate, periodMs = SECOND_MS, resolutionMs = RESOLUTION_MS } = options;
  requireRate(rate);
  requireDuration("periodMs", periodMs, 1 / NANOS_PER_MS);
  requireDuration("resolutionMs", resolutionMs);
  if (options.capacity !== undefined) requireWhole("capacity", options.capacity, 1);
  requireWhole("initialTokens", initialTokensOf(options), 0);
}

export function requireRate(rate: number): void {
  if (rate > 0 && Number.isFinite(rate) && !Number.isInteger(rate)) {
    const whole = "{ rate: 1, periodMs: 2000 } for one token every two seconds";
    throw new ConfigError(`rate is ${rate}; it must be a whole number per period, e.g. ${whole}`);
  }
  requireWhole("rate", rate, 1);
}

/** How tokens come in at `rate`, by default that of the options. */
export function refillOf(options: RateOptions, rate: number = options.rate): Refill {
  const { periodMs = SECOND_MS, resolutionMs = RESOLUTION_MS } = options;
  return new Refill(rate, periodMs, resolutionMs);
}

export function initialTokensOf({ rate, capacity = rate, initialTokens }: RateOptions): number {
  return initialTokens ?? Math.min(rate, capacity);
}

/**
 * Milliseconds between refills while the balance suffices, as in Pulsar's `AsyncTokenBucket`. Raising
 * it saves little: a refill costs some nanoseconds.
 */
const RESOLUTION_MS = 16;
