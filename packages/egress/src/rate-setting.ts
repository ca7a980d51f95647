import { ConfigError } from "@sluice/core";
import { parseDurationMs, requireKnownKeys, requireWhole } from "@sluice/core/internal";

/**
 * A rate as it is set: `"100/s"`, `"1000/min"`, `"5/10s"`; or with a `burst`, the most that can be saved
 * up and spent at once: `{ rate: "100/s", burst: 20 }`, or in numbers.
 */
export type RateSetting =
  | string
  | { readonly rate: string; readonly burst?: number }
  | { readonly limit: number; readonly periodMs: number; readonly burst?: number };

/** A rate in numbers; undefined: no burst was set. */
export type RateNumbers = Omit<Rate, "burst"> & { readonly burst: number | undefined };

/** Tokens per period, one for each request; `burst` is the most that can be saved up. */
export interface Rate {
  readonly limit: number;
  readonly periodMs: number;
  readonly burst: number;
}

const KEYS: ReadonlySet<string> = new Set(["limit", "periodMs", "burst"]);
const TEXT_KEYS: ReadonlySet<string> = new Set(["rate", "burst"]);

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
  const { limit, periodMs, burst = limit } = readRateNumbers(name, setting);
  return { limit, periodMs, burst };
}

/** As `readRate`, for users that choose the burst if none was set. */
export function readRateNumbers(name: string, setting: RateSetting): RateNumbers {
  const { limit, periodMs, burst } = numbersOf(name, setting);
  requireWhole(`${name}: limit`, limit, 1, LIMIT_MAX);
  if (burst !== undefined) requireWhole(`${name}: burst`, burst, 1, LIMIT_MAX);
  if (!(periodMs >= 1 && periodMs <= PERIOD_MAX_MS))
    throw new ConfigError(`${name}: periodMs is ${periodMs}; it must be from 1 to a year`);
  return { limit, periodMs, burst };
}

/** A rate as text, for messages. */
export function rateText(setting: RateSetting): string {
  if (typeof setting === "string") return setting.trim();
  return "rate" in setting ? setting.rate.trim() : `${setting.limit}/${setting.periodMs}ms`;
}

function numbersOf(name: string, setting: RateSetting): RateNumbers {
  if (typeof setting === "string") return { ...parse(name, setting), burst: undefined };
  const given: unknown = setting;
  if (typeof given !== "object" || given === null)
    throw new ConfigError(
      `${name} is ${String(given)}; write it as "100/s", "1000/min" or "5/10s"`,
    );
  if (given instanceof Promise)
    throw new ConfigError(
      `${name} is a promise; await it first, as in ${name}: await joinFleet(…)`,
    );
  if ("rate" in setting) {
    requireKnownKeys(name, setting, TEXT_KEYS);
    return { ...parse(name, setting.rate), burst: setting.burst };
  }
  requireKnownKeys(name, setting, KEYS);
  return { limit: setting.limit, periodMs: setting.periodMs, burst: setting.burst };
}

function parse(name: string, text: string): { limit: number; periodMs: number } {
  const [, limit = "", period = ""] = /^\s*(\d+)\s*\/\s*(\S+)\s*$/.exec(text) ?? [];
  const periodMs = UNIT_MS.get(period) ?? parseDurationMs(period);
  if (limit === "" || periodMs === undefined)
    throw new ConfigError(`${name} is "${text}"; write it as "100/s", "1000/min" or "5/10s"`);
  return { limit: Number(limit), periodMs };
}
