import type { HeaderSource } from "./header-source.ts";
import type { Hint } from "./hint.ts";
import { parseCount } from "./time/decimal.ts";
import { parseResetMs } from "./time/reset.ts";

/** The names of the fields before `-limit`, `-remaining`, `-reset` and `-reset-after`. */
const PREFIXES = ["ratelimit", "x-ratelimit", "x-rate-limit"];

/** One member of the field that has all three, as drafts of 2022 and 2023 had it. */
const MEMBER = /^(limit|remaining|reset)=(\d{1,15})$/;

/** Members of that field that are looked at. */
const MEMBERS_MAX = 8;

/**
 * Fields that say which of several limits the others speak of: GitHub's (`core`, `search`) and Discord's
 * (opaque, per route). The hint is then of a rate of that name, and other calls go on.
 */
const NAMES = ["x-ratelimit-resource", "x-ratelimit-bucket"];

/** A longer name of a limit is not kept. */
const NAME_MAX_CHARS = 128;

/**
 * What is left by the fields from before there was a standard, or undefined. Most services have one limit
 * and give it no name: the hint is of all calls.
 */
export function parseLegacyRateLimit(headers: HeaderSource, wallNowMs: number): Hint | undefined {
  const { limit = "", remaining = "", reset = "" } = membersOf(headers.get("ratelimit") ?? "");
  const combined = toHint({ limit, remaining, resets: [reset] }, wallNowMs);
  if (combined !== undefined) return combined;
  for (const prefix of PREFIXES) {
    const field = (name: string): string => headers.get(`${prefix}-${name}`) ?? "";
    const hint = toHint(
      {
        limit: field("limit"),
        remaining: field("remaining"),
        // Seconds from now come first: they do not depend on the clocks of peer and gate.
        resets: [field("reset-after"), field("reset")],
      },
      wallNowMs,
    );
    if (hint !== undefined) return { ...nameOf(headers), ...hint };
  }
  return undefined;
}

/** The members of `limit=100, remaining=0, reset=5`, in any order. */
function membersOf(value: string): Readonly<Record<string, string>> {
  const members: Record<string, string> = {};
  for (const text of value.split(",", MEMBERS_MAX)) {
    const [, name, count] = MEMBER.exec(text.trim()) ?? [];
    if (name !== undefined && count !== undefined) members[name] = count;
  }
  return members;
}

interface Fields {
  readonly limit: string;
  readonly remaining: string;
  readonly resets: readonly string[];
}

function toHint({ limit, remaining, resets }: Fields, wallNowMs: number): Hint | undefined {
  const left = parseCount(remaining);
  if (left === undefined) return undefined;
  const whole = parseCount(limit);
  const [resetMs] = resets
    .map((reset) => parseResetMs(reset, wallNowMs))
    .filter((ms) => ms !== undefined);
  return {
    ...(whole === undefined ? {} : { limit: whole }),
    remaining: left,
    ...(resetMs === undefined ? {} : { resetMs }),
  };
}

function nameOf(headers: HeaderSource): Pick<Hint, "rate"> {
  for (const name of NAMES) {
    const rate = headers.get(name) ?? "";
    if (rate !== "" && rate.length <= NAME_MAX_CHARS) return { rate };
  }
  return {};
}
