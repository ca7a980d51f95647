import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { requireBoolean, requireFunction, shown } from "../../check-options.ts";
import { requireCost } from "../rate/cost.ts";
import type { Cost } from "../rate/cost.ts";
import { NO_COSTS } from "../rate/rates.ts";
import type { Costs, Rates } from "../rate/rates.ts";

/** The real cost of a call, told by its result: at once, later, or not at all. */
export type KnownCost = Cost | undefined | PromiseLike<Cost | undefined>;

/** What one call asks of the gate. */
export interface CallOptions {
  /** Permits it takes, whole; and tokens of every rate that `cost` does not name. Default: 1. */
  readonly weight?: number;
  /** Tokens it takes, by the names of the rates: `{ tokens: 1200 }`. Default: the weight at each rate. */
  readonly cost?: Cost;
  /**
   * Tells the real cost by the result, to settle what `cost` estimated; may answer later. If it throws,
   * rejects or answers nothing, the estimate stands. Default: that of the gate.
   */
  costOf?(this: void, result: unknown): KnownCost;
  /** The higher goes first. Default: 0. */
  readonly priority?: number;
  /** The longest time for waiting and running together, in ms. Default: none, a call may wait for ever. */
  readonly deadlineMs?: number;
  /** The longest time that one attempt may run, in ms; it is then failed. Default: that of the gate. */
  readonly attemptTimeoutMs?: number;
  /** Gives the call up, waiting or running. Default: none. */
  readonly signal?: AbortSignal;
  /** False: to be refused at once rather than to wait in the queue. Default: true. */
  readonly wait?: boolean;
  /** The call may be executed twice, so it is retried even if it may have been; see `retry`. Default: false. */
  readonly idempotent?: boolean;
}

/** A call that asks for nothing; calls with it take the shortest way. */
export const NO_OPTIONS: CallOptions = {};

type CostOf = (result: unknown) => KnownCost;

/** What calls have that say nothing of it. */
export interface CallDefaults {
  readonly rates: Rates | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly costOf: CostOf | undefined;
}

/** A call that has come, its deadline an instant. */
export interface Call {
  readonly weight: number;
  readonly priority: number;
  readonly costs: Costs;
  /** The costs that the caller named: estimates if there is a `costOf`. */
  readonly cost: Cost | undefined;
  readonly costOf: CostOf | undefined;
  readonly deadlineMs: number | undefined;
  readonly deadlineAtMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly wait: boolean;
}

/** The largest weight: weights are few permits, and their sum over a queue stays exact. */
const WEIGHT_MAX = 1_000_000;

const KEYS: ReadonlySet<string> = new Set([
  "weight",
  "cost",
  "costOf",
  "priority",
  "deadlineMs",
  "attemptTimeoutMs",
  "signal",
  "wait",
  "idempotent",
] satisfies (keyof CallOptions)[]);

/** The call of a caller that asks for nothing. */
export function plainCall({ rates, attemptTimeoutMs, costOf }: CallDefaults): Call {
  return {
    weight: 1,
    priority: 0,
    costs: rates?.costsOf(undefined, 1) ?? NO_COSTS,
    cost: undefined,
    costOf,
    deadlineMs: undefined,
    deadlineAtMs: undefined,
    attemptTimeoutMs,
    signal: undefined,
    wait: true,
  };
}

/** Reads the options of a call that comes at `nowMs`. */
export function readCall(options: CallOptions, nowMs: number, defaults: CallDefaults): Call {
  requireCallOptions(options);
  requireKnownKeys("a call", options, KEYS);
  const { weight = 1, priority = 0, cost, costOf = defaults.costOf, signal, wait = true } = options;
  const { attemptTimeoutMs = defaults.attemptTimeoutMs, deadlineMs } = options;
  requireWhole("weight", weight, 1, WEIGHT_MAX);
  if (!Number.isFinite(priority))
    throw new ConfigError(`priority is ${shown(priority)}; it must be a number`);
  if (attemptTimeoutMs !== undefined) requireDuration("attemptTimeoutMs", attemptTimeoutMs);
  requireFunction("costOf", costOf);
  requireBoolean("wait", wait);
  requireBoolean("idempotent", options.idempotent ?? false);
  requireSignal(signal);
  const { rates } = defaults;
  if (rates === undefined && cost !== undefined) requireCost(cost, []);
  return {
    weight,
    priority,
    costs: rates?.costsOf(cost, weight) ?? NO_COSTS,
    cost,
    costOf,
    deadlineMs,
    deadlineAtMs: deadlineAtOf(options, nowMs),
    attemptTimeoutMs,
    signal,
    wait,
  };
}

/** Any class: signals of other realms and of libraries are as good as the global one. */
function requireSignal(signal: unknown): void {
  if (signal === undefined) return;
  if (typeof signal === "object" && signal !== null && "throwIfAborted" in signal) return;
  throw new ConfigError(`signal is ${shown(signal)}; it must be an AbortSignal`);
}

/** The instant of the deadline of a call that comes at `nowMs`; undefined if it has none. */
export function deadlineAtOf({ deadlineMs }: CallOptions, nowMs: number): number | undefined {
  if (deadlineMs === undefined) return undefined;
  requireDuration("deadlineMs", deadlineMs);
  return nowMs + deadlineMs;
}

/** A number, or the promise of an async function, has no keys: the cost in it would be passed over. */
export function requireCallOptions(options: CallOptions): void {
  const found: unknown = options;
  if (typeof found === "object" && found !== null && !(found instanceof Promise)) return;
  const what = found instanceof Promise ? "a promise" : String(found);
  throw new ConfigError(
    `the options of a call are ${what}; use an object such as { cost: { tokens: 1200 } }`,
  );
}
