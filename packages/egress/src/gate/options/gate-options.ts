import {
  ConfigError,
  createBusyThrottle,
  FixedLimit,
  RfcLimit,
  SluiceLimit,
  VectorLimit,
} from "@sluice/core";
import type {
  BusyThrottle,
  BusyThrottleOptions,
  Clock,
  LimitAlgorithm,
  Random,
  Timer,
} from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { BusyRuleName } from "@sluice/core/internal";
import { systemRandom, systemTimer, systemWallClock } from "@sluice/core/system";
import { requireBoolean, requireFunction, requireSettings, shown } from "../../check-options.ts";
import { readObservers } from "../../observers.ts";
import type { RetryOptions } from "../../retry/retry.ts";
import { rateText, readRateNumbers } from "../../rate-setting.ts";
import type { RateSetting } from "../../rate-setting.ts";
import type { Classify } from "../../outcome/classify.ts";
import type { GateObserver } from "../event/event.ts";
import type { KnownCost } from "./call-options.ts";
import { LocalRate } from "../rate/local-rate.ts";
import type { RateSource } from "../rate/rate-source.ts";
import { ONE_RATE, Rates } from "../rate/rates.ts";

/** Which algorithm finds the limit, and its bounds. */
export interface AdaptiveOptions {
  /** `sluice` unless given. */
  readonly algorithm?: "sluice" | "vector" | "rfc";
  /**
   * The limit before anything was measured.
   *
   * @default 1
   */
  readonly initialLimit?: number;
  /**
   * The limit never grows beyond this.
   *
   * @default 200
   */
  readonly maxLimit?: number;
}

/** Calls in flight at once: found by itself, a number, or not limited. */
export type ConcurrencySetting = "adaptive" | "none" | number | AdaptiveOptions;

/** Time and randomness, for tests. */
export interface GateRuntime {
  /** Default: the real clock. */
  readonly timer?: Timer;
  /** Default: `systemRandom`. */
  readonly random?: Random;
  /** For the dates that peers send. Default: the real clock. */
  readonly wallClock?: Clock;
}

export interface GateOptions {
  /** For errors, events and metrics. Default: `gate`. */
  readonly name?: string;
  /** Default: not limited. */
  readonly concurrency?: ConcurrencySetting;
  /**
   * One rate, such as `"500/s"` or a limiter that a fleet shares; short for `rates: { rate }`.
   * Default: not limited.
   */
  readonly rate?: RateSetting | RateSource;
  /**
   * Several rates by name that hold at once: `{ requests: "500/min", tokens: "200000/min" }`. A call
   * says with `cost` what it takes of each; a rate that it does not name costs its weight. Default: none.
   */
  readonly rates?: Readonly<Record<string, RateSetting | RateSource>>;
  /**
   * Tells the real cost of a call by its result, for calls that do not say; see `CallOptions`.
   * Default: the cost stays as it was estimated.
   */
  costOf?(this: void, result: unknown): KnownCost;
  /**
   * How the rate follows a peer's busy answers. Default: `sluice`; but `off` with an adaptive
   * concurrency, which follows them by itself.
   */
  readonly busy?: BusySetting;
  /** Most calls that wait in the queue; a call that finds it full is refused. Default: 1000. */
  readonly maxWaiting?: number;
  /** While a pause lasts longer than this, calls are refused instead of waiting, in ms. Default: 300 000. */
  readonly maxPauseMs?: number;
  /** The longest time that one attempt may run, in ms; it is then failed, and may be retried. Default: none. */
  readonly attemptTimeoutMs?: number;
  /** Judges results and errors of your own kind. Default: the gate judges HTTP answers and known errors by itself. */
  readonly classify?: Classify;
  /** Retries, or the number of attempts. Default: none. */
  readonly retry?: RetryOptions | number;
  /** Only reports what it would refuse or hold: every call starts at once. Default: false. */
  readonly shadow?: boolean;
  /** Functions that get every event of the gate. Default: none. */
  readonly observers?: GateObserver | readonly GateObserver[];
  /** Time and randomness, for tests. Default: the real ones. */
  readonly runtime?: GateRuntime;
}

/** A rule by its name, or with its settings. */
export type BusySetting = BusyRuleName | "off" | Omit<BusyThrottleOptions, "clock">;

export const GATE_KEYS: ReadonlySet<string> = new Set([
  "name",
  "concurrency",
  "rate",
  "rates",
  "costOf",
  "busy",
  "maxWaiting",
  "maxPauseMs",
  "attemptTimeoutMs",
  "classify",
  "retry",
  "shadow",
  "observers",
  "runtime",
] satisfies (keyof GateOptions)[]);

const RUNTIME_KEYS: ReadonlySet<string> = new Set([
  "timer",
  "random",
  "wallClock",
] satisfies (keyof GateRuntime)[]);

const ADAPTIVE_KEYS: ReadonlySet<string> = new Set([
  "algorithm",
  "initialLimit",
  "maxLimit",
] satisfies (keyof AdaptiveOptions)[]);

const BUSY_KEYS: ReadonlySet<string> = new Set(["rule", "recover"] satisfies (keyof Omit<
  BusyThrottleOptions,
  "clock"
>)[]);

const MAX_WAITING = 10_000_000;

/** The default of `maxPauseMs`: during a longer pause the caller gets an error rather than a wait. */
const MAX_PAUSE_MS = 300_000;

/** More than can ever be in flight. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** What a gate is built of. */
export interface GateParts {
  readonly name: string;
  readonly timer: Timer;
  readonly random: Random;
  readonly wallClock: Clock;
  readonly algorithm: LimitAlgorithm;
  /** Whether the algorithm limits anything at all. */
  readonly isLimited: boolean;
  readonly rates: Rates | undefined;
  readonly busy: BusyThrottle | undefined;
  readonly maxWaiting: number;
  readonly maxPauseMs: number;
  readonly attemptTimeoutMs: number | undefined;
  readonly costOf: ((result: unknown) => KnownCost) | undefined;
  readonly classify: Classify | undefined;
  readonly retry: RetryOptions | undefined;
  readonly isShadow: boolean;
  readonly observers: readonly GateObserver[];
}

/** Checks the options and builds the parts; a `ConfigError` says what would be right. */
export function readGateOptions(options: GateOptions): GateParts {
  requireSettings("the options of a gate", options, 'rate: "100/s"');
  requireKnownKeys("a gate", options, GATE_KEYS);
  if (options.runtime !== undefined) {
    requireSettings("runtime", options.runtime, "timer");
    requireKnownKeys("runtime", options.runtime, RUNTIME_KEYS);
  }
  const { name = "gate", concurrency = "none", maxWaiting = 1000, shadow = false } = options;
  const { maxPauseMs = MAX_PAUSE_MS, attemptTimeoutMs, classify } = options;
  const {
    timer = systemTimer,
    random = systemRandom,
    wallClock = systemWallClock,
  } = options.runtime ?? {};
  requireWhole("maxWaiting", maxWaiting, 0, MAX_WAITING);
  requireDuration("maxPauseMs", maxPauseMs);
  if (attemptTimeoutMs !== undefined) requireDuration("attemptTimeoutMs", attemptTimeoutMs);
  requireName(name);
  requireBoolean("shadow", shadow);
  requireFunction("classify", classify);
  requireFunction("costOf", options.costOf);
  return {
    name,
    timer,
    random,
    wallClock,
    algorithm: algorithmOf(concurrency, random),
    isLimited: concurrency !== "none",
    rates: ratesOf(options, timer),
    busy: busyOf(options.busy ?? (isAdaptive(concurrency) ? "off" : "sluice"), timer),
    maxWaiting,
    maxPauseMs,
    attemptTimeoutMs,
    costOf: options.costOf,
    classify,
    retry: retryOf(options.retry),
    isShadow: shadow,
    observers: readObservers(options.observers),
  };
}

function requireName(name: unknown): void {
  if (typeof name !== "string" || name === "")
    throw new ConfigError(`name is ${shown(name)}; it must be a text for errors and metrics`);
}

function retryOf(retry: GateOptions["retry"]): RetryOptions | undefined {
  if (typeof retry === "number") return { attempts: retry };
  if (retry !== undefined && typeof retry !== "object")
    throw new ConfigError(
      `retry is ${shown(retry)}; use a number of attempts or settings such as { attempts: 3 }`,
    );
  return retry;
}

/** Whether the limit is found by an algorithm. */
export function isAdaptive(concurrency: ConcurrencySetting): boolean {
  return concurrency === "adaptive" || typeof concurrency === "object";
}

function algorithmOf(concurrency: ConcurrencySetting, random: Random): LimitAlgorithm {
  if (concurrency === "none") return new FixedLimit(NO_LIMIT);
  if (concurrency === "adaptive") return adaptiveOf({}, random);
  if (typeof concurrency === "number") {
    requireWhole("concurrency", concurrency, 1, NO_LIMIT);
    return new FixedLimit(concurrency);
  }
  // Programs without types pass null, or a number as text.
  const found: unknown = concurrency;
  if (typeof found === "object" && found !== null) return adaptiveOf(concurrency, random);
  throw new ConfigError(
    `concurrency is ${JSON.stringify(found)}; it must be "adaptive", "none", a number or settings`,
  );
}

function adaptiveOf(options: AdaptiveOptions, random: Random): LimitAlgorithm {
  requireKnownKeys("concurrency", options, ADAPTIVE_KEYS);
  const { algorithm = "sluice", ...bounds } = options;
  switch (algorithm) {
    case "sluice":
      return new SluiceLimit({ ...bounds, random });
    case "vector":
      return new VectorLimit(bounds);
    case "rfc":
      return new RfcLimit(bounds);
    default:
      throw new ConfigError(
        `concurrency.algorithm is "${String(algorithm)}"; it must be "sluice", "vector" or "rfc"`,
      );
  }
}

function ratesOf({ rate, rates }: GateOptions, timer: Timer): Rates | undefined {
  if (rate !== undefined && rates !== undefined)
    throw new ConfigError("rate and rates are both set; put the rate among the rates, with a name");
  if (rate !== undefined) return new Rates(new Map([[ONE_RATE, rateOf("rate", rate, timer)]]));
  if (rates === undefined) return undefined;
  requireSettings("rates", rates, 'requests: "500/min"');
  const sources = Object.entries(rates).map(
    ([name, setting]) => [name, rateOf(`rates.${name}`, setting, timer)] as const,
  );
  return sources.length === 0 ? undefined : new Rates(new Map(sources));
}

function rateOf(name: string, setting: RateSetting | RateSource, timer: Timer): RateSource {
  const given: unknown = setting;
  if (typeof given === "object" && given !== null && "tryTake" in given)
    return setting as RateSource;
  const numbers = readRateNumbers(name, setting as RateSetting);
  return new LocalRate(timer, rateText(setting as RateSetting), numbers);
}

function busyOf(setting: BusySetting, timer: Timer): BusyThrottle | undefined {
  if (setting === "off") return undefined;
  const options = typeof setting === "string" ? { rule: setting } : setting;
  requireSettings("busy", options, 'rule: "sluice"');
  requireKnownKeys("busy", options, BUSY_KEYS);
  const { rule = "sluice" } = options;
  if (!BUSY_RULES.has(rule))
    throw new ConfigError(`busy is "${rule}"; it must be "sluice", "table", "prose" or "off"`);
  return createBusyThrottle({ ...options, clock: timer });
}

const BUSY_RULES: ReadonlySet<string> = new Set<BusyRuleName>(["sluice", "table", "prose"]);
