import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";

/** What one call asks of the gate. */
export interface CallOptions {
  /** Permits and tokens it takes, whole; 1 unless given. */
  readonly weight?: number;
  /** The higher goes first; 0 unless given. */
  readonly priority?: number;
  /** Longest it may take, waiting and running together. Without it a call may wait for ever. */
  readonly deadlineMs?: number;
  /** Gives the call up, waiting or running. */
  readonly signal?: AbortSignal;
  /** False: to be refused at once rather than to wait in line. */
  readonly wait?: boolean;
  /** It may be executed twice, so it is retried even if it may have been; see `retry`. */
  readonly idempotent?: boolean;
}

/** A call that asks for nothing; calls with it take the shortest way. */
export const NO_OPTIONS: CallOptions = {};

/** A call that has come, its deadline an instant. */
export interface Call {
  readonly weight: number;
  readonly priority: number;
  readonly deadlineAtMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly wait: boolean;
}

/** Weights are few permits, and their sum over a line stays exact. */
const WEIGHT_MAX = 1_000_000;

const KEYS: ReadonlySet<string> = new Set([
  "weight",
  "priority",
  "deadlineMs",
  "signal",
  "wait",
  "idempotent",
] satisfies (keyof CallOptions)[]);

/** Reads the options of a call that comes at `nowMs`. */
export function readCall(options: CallOptions, nowMs: number): Call {
  requireKnownKeys("a call", options, KEYS);
  const { weight = 1, priority = 0, deadlineMs, signal, wait = true } = options;
  requireWhole("weight", weight, 1, WEIGHT_MAX);
  if (!Number.isFinite(priority))
    throw new ConfigError(`priority is ${priority}; it must be a number`);
  if (deadlineMs === undefined) return { weight, priority, deadlineAtMs: undefined, signal, wait };
  requireDuration("deadlineMs", deadlineMs);
  return { weight, priority, deadlineAtMs: nowMs + deadlineMs, signal, wait };
}
