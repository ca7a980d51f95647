import { ConfigError } from "@sluice/core";
import { parseDurationMs, requireKnownKeys, requireWhole } from "@sluice/core/internal";

/**
 * A rate as it is set: `"100/s"`, `"1000/min"`, `"5/10s"`; or in numbers, where `burst`, the most
 * that can be saved up and spent at once, need not be the `limit` of one period.
 */
export type RateSetting =
  | string
  | { readonly limit: number; readonly periodMs: number; readonly burst?: number };

/** Tokens per period, one for each request; `burst` is the most that can be saved up. */
export interface Rate {
  readonly limit: number;
  readonly periodMs: number;
  readonly burst: number;
}

const KEYS: ReadonlySet<string> = new Set(["limit", "periodMs", "burst"] satisfies (keyof Exclude<
  RateSetting,
  string
>)[]);

const UNIT_MS = new Map([
  ["ms", 1],
  ["s", 1000],
  ["sec", 1000],
  ["second", 1000],
  ["m", 60_000],
  ["min", 60_000],
  ["minute", 60_000],
  ["h", 3_600_000],
  ["hour", 3_600_000],
  ["d", 86_400_000],
  ["day", 86_400_000],
]);

/** So that the fields, whose integers have 15 digits, can tell any balance. */
const LIMIT_MAX = 1_000_000_000_000;

/** A year: longer, and no client would live to see its quota again. */
const PERIOD_MAX_MS = 366 * 86_400_000;

/** Reads a rate; `name` is for the message of the `ConfigError` if it is none. */
export function readRate(name: string, setting: RateSetting): Rate {
  const rate = typeof setting === "string" ? parse(name, setting) : setting;
  requireKnownKeys(name, rate, KEYS);
  const { limit, periodMs, burst = limit } = rate;
  requireWhole(`${name}: limit`, limit, 1, LIMIT_MAX);
  requireWhole(`${name}: burst`, burst, 1, LIMIT_MAX);
  if (!(periodMs >= 1 && periodMs <= PERIOD_MAX_MS))
    throw new ConfigError(`${name}: periodMs is ${periodMs}; it must be from 1 to a year`);
  return { limit, periodMs, burst };
}

function parse(name: string, text: string): { limit: number; periodMs: number; burst?: number } {
  const [, limit = "", period = ""] = /^\s*(\d+)\s*\/\s*(\S+)\s*$/.exec(text) ?? [];
  const periodMs = UNIT_MS.get(period) ?? parseDurationMs(period);
  if (limit === "" || periodMs === undefined)
    throw new ConfigError(`${name} is "${text}"; write it as "100/s", "1000/min" or "5/10s"`);
  return { limit: Number(limit), periodMs };
}
