/** What can go wrong, by a name that stays. Callers branch on these; messages are for people. */
export type SluiceErrorCode =
  | "CONFIG"
  | "INVARIANT"
  | "THROTTLED"
  | "DEADLINE"
  | "CLOSED"
  | "STORE"
  | "DUPLICATE"
  | "PROTOCOL"
  | "CONNECTION"
  | "BROKER"
  | "STORAGE";

/** Whatever Sluice throws on purpose. */
export abstract class SluiceError extends Error {
  abstract readonly code: SluiceErrorCode;
}

/** Where a setting stands. Lines count from 1. */
export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/** A setting that cannot be right. The message is one line and says what would be. */
export class ConfigError extends SluiceError {
  override readonly name = "ConfigError";
  readonly code = "CONFIG";
  readonly source: SourceLine | undefined;

  constructor(message: string, source?: SourceLine, options?: ErrorOptions) {
    super(source === undefined ? message : `${source.file}:${source.line}: ${message}`, options);
    this.source = source;
  }
}

/** A call that its contract forbids, or a state that cannot be: a mistake in a program. */
export class InvariantError extends SluiceError {
  override readonly name = "InvariantError";
  readonly code = "INVARIANT";
}

export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new InvariantError(what);
}

/** 2^53: every count of tokens is at most this, so that counts and balances stay exact. */
export const COUNT_MAX = 9_007_199_254_740_992;

/** Refuses a setting unless it is a whole number within `min` and `max`. */
export function requireWhole(
  name: string,
  value: number,
  min: number,
  max: number = COUNT_MAX,
): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new ConfigError(`${name} is ${value}; it must be a whole number from ${min} to ${max}`);
}

/** Refuses a setting unless it is a number within `min` and `max`. */
export function requireNumber(name: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw new ConfigError(`${name} is ${value}; it must be a number from ${min} to ${max}`);
}

/** Refuses a duration that is shorter than `minMs` or longer than a generation. */
export function requireDuration(name: string, value: number, minMs: number = 0): void {
  requireNumber(name, value, minMs, DURATION_MAX_MS);
}

/** 31 years: its nanoseconds, multiplied by any rate, are far from where doubles end. */
const DURATION_MAX_MS = 1e12;

/** Refuses a count of tokens that is not whole, is negative or beyond 2^53. */
export function requireCount(count: number): void {
  invariant(count >= 0 && count <= COUNT_MAX && Number.isInteger(count), "a count is whole");
}

/** Refuses settings with a key that `known` does not have: it may be misspelt. */
export function requireKnownKeys(what: string, settings: object, known: ReadonlySet<string>): void {
  for (const key in settings)
    if (!known.has(key)) throw new ConfigError(`${what} has no option "${key}"`);
}
