import { nearest } from "./numbers/nearest.ts";
import { DURATION_MAX_MS } from "./time.ts";

/** The stable name of a failure. Programs branch on it; messages may change. */
export type SluiceErrorCode =
  /** An option or a setting cannot be right. The message says what was found and what is expected. */
  | "CONFIG"
  /** An argument that a call cannot accept: a mistake in the calling program. */
  | "INVARIANT"
  /** The call was refused and not sent; `reason` says why, `retryAfterMs` when to try again. */
  | "THROTTLED"
  /** The deadline passed while the call ran; it may have been executed. */
  | "DEADLINE"
  /** The gate, limiter, client or producer was closed before the call began. */
  | "CLOSED"
  /** The store failed; `canHeal` says whether the same call may succeed later. */
  | "STORE"
  /** Another process uses the same member id. */
  | "DUPLICATE"
  /** Bytes of a peer that are no frame or command of the protocol. */
  | "PROTOCOL"
  /** A connection could not be opened, or was lost. */
  | "CONNECTION"
  /** The broker refused a request; `serverError` has its answer. */
  | "BROKER"
  /** Stored bytes cannot be read or written. */
  | "STORAGE";

/** Base class of every error that Sluice throws on purpose. */
export abstract class SluiceError extends Error {
  abstract readonly code: SluiceErrorCode;
}

/** The place of a setting in a file. Lines count from 1. */
export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/** An option or setting that cannot be right. The message is one line: what was found, what is expected. */
export class ConfigError extends SluiceError {
  override readonly name = "ConfigError";
  readonly code = "CONFIG";
  readonly source: SourceLine | undefined;

  constructor(message: string, source?: SourceLine, options?: ErrorOptions) {
    super(source === undefined ? message : `${source.file}:${source.line}: ${message}`, options);
    this.source = source;
  }
}

/** A call with an argument that it cannot accept, or a state that cannot be: a mistake in a program. */
export class InvariantError extends SluiceError {
  override readonly name = "InvariantError";
  readonly code = "INVARIANT";
}

export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new InvariantError(what);
}

/** 2^53: every count of tokens is at most this, so that counts and balances stay exact doubles. */
export const COUNT_MAX = 9_007_199_254_740_992;

/** Refuses an option unless it is a whole number from `min` to `max`. */
export function requireWhole(
  name: string,
  value: number,
  min: number,
  max: number = COUNT_MAX,
): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new ConfigError(`${name} is ${shown(value)}; it must be ${wholeText(value, min, max)}`);
}

/** The expected whole number in words. `COUNT_MAX`, the default maximum, is named only for a value above it. */
export function wholeText(value: unknown, min: number, max: number): string {
  const isAbove = typeof value === "number" && value > max;
  return max === COUNT_MAX && !isAbove
    ? `a whole number of at least ${min}`
    : `a whole number from ${min} to ${max}`;
}

/** Refuses an option unless it is a number from `min` to `max`. */
export function requireNumber(name: string, value: number, min: number, max: number): void {
  // Text such as "5" compares like a number, and would be joined to others instead of added.
  if (typeof value === "number" && value >= min && value <= max) return;
  throw new ConfigError(`${name} is ${shown(value)}; it must be a number from ${min} to ${max}`);
}

/** Refuses a duration shorter than `minMs` or longer than `DURATION_MAX_MS`. */
export function requireDuration(name: string, value: number, minMs: number = 0): void {
  requireNumber(name, value, minMs, DURATION_MAX_MS);
}

/**
 * Refuses an argument unless it is a whole number from `min` to `max`; `where` names it and its
 * method.
 */
export function requireCount(
  where: string,
  count: number,
  min: number = 0,
  max: number = COUNT_MAX,
): void {
  if (Number.isInteger(count) && count >= min && count <= max) return;
  throw new InvariantError(`${where} is ${shown(count)}; use a whole number from ${min} to ${max}`);
}

/** Refuses options with a key that `known` does not have: it may be misspelt. */
export function requireKnownKeys(what: string, settings: object, known: ReadonlySet<string>): void {
  for (const key in settings)
    if (!known.has(key))
      throw new ConfigError(`${what} has no option "${key}"; ${wayOut(key, known)}`);
}

function wayOut(key: string, known: ReadonlySet<string>): string {
  const near = nearest(key, [...known]);
  const all = `it has ${[...known].join(", ")}`;
  return near === undefined ? all : `did you mean ${near}? ${all}`;
}

/** Text in quotes, so that "5" and 5 look different. */
function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
