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
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { BusyRuleName } from "@sluice/core/internal";
import { systemRandom, systemTimer, systemWallClock } from "@sluice/core/system";
import type { RetryOptions } from "../retry/retry.ts";
import { readRate } from "../rate-setting.ts";
import type { RateSetting } from "../rate-setting.ts";
import type { Verdict } from "../outcome/verdict.ts";
import type { GateObserver } from "./event.ts";
import { LocalRate } from "./rate-source.ts";
import type { RateSource } from "./rate-source.ts";

/** How a call came out. */
export type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Judges how a call came out; `undefined` leaves it to the gate. */
export type Classify = (settled: Settled) => Verdict | undefined;

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

/** What may be put in place of real time and chance. */
export interface GateRuntime {
  readonly timer?: Timer;
  readonly random?: Random;
  /** For the dates that peers send. */
  readonly wallClock?: Clock;
}

export interface GateOptions {
  /** For errors, events and metrics; `gate` unless given. */
  readonly name?: string;
  /** Not limited unless given. */
  readonly concurrency?: ConcurrencySetting;
  /** Such as `"500/s"`; not limited unless given. Or whatever shares a rate with others. */
  readonly rate?: RateSetting | RateSource;
  /**
   * How the rate follows a peer's busy answers. `sluice` unless given; but `off` with an adaptive
   * concurrency, which follows them by itself.
   */
  readonly busy?: BusySetting;
  /** Most calls that wait in line; 1000 unless given. Who finds it full is refused. */
  readonly maxWaiting?: number;
  /** Judges results and errors of your own kind. */
  readonly classify?: Classify;
  /** Retries; none unless given. */
  readonly retry?: RetryOptions;
  /** Only reports what it would refuse or hold: every call starts at once. */
  readonly shadow?: boolean;
  readonly observers?: readonly GateObserver[];
  readonly runtime?: GateRuntime;
}

/** A rule by its name, or with its settings. */
export type BusySetting = BusyRuleName | "off" | Omit<BusyThrottleOptions, "clock">;

const KEYS: ReadonlySet<string> = new Set([
  "name",
  "concurrency",
  "rate",
  "busy",
  "maxWaiting",
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
  readonly rate: RateSource | undefined;
  readonly busy: BusyThrottle | undefined;
  readonly maxWaiting: number;
  readonly isShadow: boolean;
  readonly observers: readonly GateObserver[];
}

/** Checks the options and builds the parts; a `ConfigError` says what would be right. */
export function readGateOptions(options: GateOptions): GateParts {
  requireKnownKeys("a gate", options, KEYS);
  if (options.runtime !== undefined) requireKnownKeys("runtime", options.runtime, RUNTIME_KEYS);
  const { name = "gate", concurrency = "none", maxWaiting = 1000, shadow = false } = options;
  const {
    timer = systemTimer,
    random = systemRandom,
    wallClock = systemWallClock,
  } = options.runtime ?? {};
  requireWhole("maxWaiting", maxWaiting, 0, MAX_WAITING);
  return {
    name,
    timer,
    random,
    wallClock,
    algorithm: algorithmOf(concurrency, random),
    isLimited: concurrency !== "none",
    rate: rateOf(options.rate, timer),
    busy: busyOf(options.busy ?? (isAdaptive(concurrency) ? "off" : "sluice"), timer),
    maxWaiting,
    isShadow: shadow,
    observers: options.observers ?? [],
  };
}

function isAdaptive(concurrency: ConcurrencySetting): boolean {
  return concurrency === "adaptive" || typeof concurrency === "object";
}

function algorithmOf(concurrency: ConcurrencySetting, random: Random): LimitAlgorithm {
  if (concurrency === "none") return new FixedLimit(NO_LIMIT);
  if (concurrency === "adaptive") return adaptiveOf({}, random);
  if (typeof concurrency === "number") {
    requireWhole("concurrency", concurrency, 1, NO_LIMIT);
    return new FixedLimit(concurrency);
  }
  if (typeof concurrency === "object") return adaptiveOf(concurrency, random);
  throw new ConfigError(
    `concurrency is "${String(concurrency)}"; it must be "adaptive", "none", a number or settings`,
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

function rateOf(setting: GateOptions["rate"], timer: Timer): RateSource | undefined {
  if (setting === undefined) return undefined;
  if (typeof setting === "object" && "tryTake" in setting) return setting;
  return new LocalRate(timer, readRate("rate", setting));
}

function busyOf(setting: BusySetting, timer: Timer): BusyThrottle | undefined {
  if (setting === "off") return undefined;
  const options = typeof setting === "string" ? { rule: setting } : setting;
  requireKnownKeys("busy", options, BUSY_KEYS);
  const { rule = "sluice" } = options;
  if (!BUSY_RULES.has(rule))
    throw new ConfigError(`busy is "${rule}"; it must be "sluice", "table", "prose" or "off"`);
  return createBusyThrottle({ ...options, clock: timer });
}

const BUSY_RULES: ReadonlySet<string> = new Set<BusyRuleName>(["sluice", "table", "prose"]);
