import { ConfigError, InvariantError } from "@sluice/core";
import type { Clock, Permit } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { systemClock } from "@sluice/core/system";
import { formatRateLimit, formatRateLimitPolicy } from "../hints/rate-limit-fields.ts";
import type { QuotaPolicy } from "../hints/rate-limit-fields.ts";
import { createInboundConcurrency } from "./inbound-concurrency.ts";
import type {
  InboundConcurrency,
  InboundConcurrencyOptions,
  InboundLimit,
} from "./inbound-concurrency.ts";
import { Quota } from "./quota.ts";
import type { QuotaState } from "./quota.ts";
import { readRate } from "../rate-setting.ts";
import type { Rate, RateSetting } from "../rate-setting.ts";
import { refusal } from "./refusal.ts";
import type { AnswerHeaders, Refused } from "./refusal.ts";

export interface InboundLimiterOptions {
  /** What each key may send; the policy is named `default`. */
  readonly rate?: RateSetting;
  /** Instead of one rate several that hold at once, by name: such as a burst and a day's quota. */
  readonly policies?: Readonly<Record<string, RateSetting>>;
  /** Most keys held for each policy; 100,000 unless given. Beyond it newcomers share one quota. */
  readonly maxKeys?: number;
  /** Requests in hand at once, of all keys together; not limited unless given. */
  readonly concurrency?: InboundLimit | InboundConcurrencyOptions;
  readonly clock?: Clock;
}

const KEYS: ReadonlySet<string> = new Set([
  "rate",
  "policies",
  "maxKeys",
  "concurrency",
  "clock",
] satisfies (keyof InboundLimiterOptions)[]);

/** A request that may be served. */
export interface Admitted {
  readonly admitted: true;
  /** The quota fields, for the answer. */
  readonly headers: AnswerHeaders;
  /** Given if concurrency is limited; whoever asked ends it when the answer is out or given up. */
  readonly permit: Permit | undefined;
}

export type InboundDecision = Admitted | Refused;

/** Limits what comes in. It waits for nothing and holds nothing but its keys. */
export interface InboundLimiter {
  /**
   * Admits a request of `key`, or tells what to answer instead. It is charged to all policies and
   * gets a permit, or is refused and costs nothing. A key's own excess is told before our lack of
   * capacity. Keys of more than 256 characters are told apart by their two ends.
   */
  check(key: string, cost?: number, nowMs?: number): InboundDecision;
  /** Keys now held, of the policy that holds most. */
  readonly keys: number;
  readonly inFlight: number;
  /** What `inFlight` may reach now; undefined if it is not limited. */
  readonly concurrencyLimit: number | undefined;
}

/** A limiter for inbound requests, of any framework or none. */
export function createInboundLimiter(options: InboundLimiterOptions): InboundLimiter {
  return new QuotaLimiter(options);
}

interface NamedQuota {
  readonly name: string;
  readonly quota: Quota;
}

class QuotaLimiter implements InboundLimiter {
  readonly #clock: Clock;
  readonly #quotas: readonly NamedQuota[];
  readonly #policyHeaders: AnswerHeaders;
  readonly #concurrency: InboundConcurrency | undefined;

  constructor(options: InboundLimiterOptions) {
    requireKnownKeys("an inbound limiter", options, KEYS);
    const { clock = systemClock, maxKeys = 100_000, concurrency } = options;
    const rates = ratesOf(options);
    if (rates.length === 0 && concurrency === undefined)
      throw new ConfigError("an inbound limiter needs a rate, policies or a concurrency");
    this.#clock = clock;
    this.#quotas = rates.map(([name, rate]) => ({ name, quota: new Quota(clock, rate, maxKeys) }));
    this.#policyHeaders =
      rates.length === 0
        ? {}
        : { "RateLimit-Policy": formatRateLimitPolicy(rates.map(announcement)) };
    this.#concurrency =
      concurrency === undefined ? undefined : createInboundConcurrency(clock, concurrency);
  }

  get keys(): number {
    return Math.max(0, ...this.#quotas.map(({ quota }) => quota.size));
  }

  get inFlight(): number {
    return this.#concurrency?.limiter.inFlight ?? 0;
  }

  get concurrencyLimit(): number | undefined {
    return this.#concurrency?.limiter.limit;
  }

  check(key: string, cost: number = 1, nowMs: number = this.#clock.now()): InboundDecision {
    if (!Number.isSafeInteger(cost) || cost < 0)
      throw new InvariantError(`a cost is a whole number of requests, not ${cost}`);
    const boundedKey = bounded(key);
    const found = this.#look(boundedKey, cost, nowMs);
    if (found.some(({ isEnough }) => !isEnough)) return this.#overQuota(found);
    const permit = this.#concurrency?.limiter.tryAcquire(1, 0, nowMs);
    if (this.#concurrency !== undefined && permit === undefined)
      return this.#noRoom(this.#concurrency, found, nowMs);
    for (const { quota } of this.#quotas) quota.take(boundedKey, cost, nowMs);
    const left = this.#look(boundedKey, 1, nowMs);
    return { admitted: true, headers: this.#headers(left), permit };
  }

  #look(key: string, cost: number, nowMs: number): readonly QuotaState[] {
    return this.#quotas.map(({ quota }) => quota.look(key, cost, nowMs));
  }

  #overQuota(found: readonly QuotaState[]): Refused {
    const short = found.map(({ isEnough }) => !isEnough);
    const waitsMs = found.map(({ isEnough, resetMs = 0 }) => (isEnough ? 0 : resetMs));
    return refusal({
      reason: "over-quota",
      retryAfterMs: Math.max(...waitsMs),
      quotaHeaders: this.#headers(found),
      violated: this.#quotas.filter((_, i) => short[i]).map(({ name }) => name),
    });
  }

  #noRoom(
    { limiter, retryAfterMs }: InboundConcurrency,
    found: readonly QuotaState[],
    nowMs: number,
  ): Refused {
    return refusal({
      reason: "concurrency",
      retryAfterMs: Math.max(retryAfterMs, limiter.pauseMs(1, nowMs) ?? 0),
      quotaHeaders: this.#headers(found),
      violated: [],
    });
  }

  #headers(states: readonly QuotaState[]): AnswerHeaders {
    if (states.length === 0) return {};
    const quotas = this.#quotas.map(({ name }, i) => {
      const { remaining = 0, resetMs } = states[i] ?? {};
      return { policy: name, remaining, ...(resetMs === undefined ? {} : { resetMs }) };
    });
    return { ...this.#policyHeaders, RateLimit: formatRateLimit(quotas) };
  }
}

function ratesOf({ rate, policies }: InboundLimiterOptions): [string, Rate][] {
  if (rate !== undefined && policies !== undefined)
    throw new ConfigError("an inbound limiter takes a rate or policies, not both");
  if (rate !== undefined) return [["default", readRate("rate", rate)]];
  return Object.entries(policies ?? {}).map(([name, setting]) => {
    if (!/^[\w.-]{1,64}$/.test(name))
      throw new ConfigError(`"${name}" names no policy; use up to 64 letters, digits, "_.-"`);
    return [name, readRate(name, setting)];
  });
}

/** Integers of a structured field have 15 digits. */
const FIELD_MAX = 999_999_999_999_999;

/** The policy in whole seconds: of a period that is none, what is sure to come in the next whole. */
function announcement([name, { limit, periodMs }]: [string, Rate]): QuotaPolicy {
  const windowMs = Math.ceil(periodMs / 1000) * 1000;
  const quota = Math.floor((limit * windowMs) / periodMs);
  return { policy: name, quota: Math.min(quota, FIELD_MAX), windowMs, unit: "requests" };
}

const KEY_LENGTH_MAX = 256;

function bounded(key: string): string {
  if (key.length <= KEY_LENGTH_MAX) return key;
  return key.slice(0, KEY_LENGTH_MAX / 2) + key.slice(-KEY_LENGTH_MAX / 2);
}
