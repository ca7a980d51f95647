import { ConfigError, requireNumber } from "../../errors.ts";
import { DOCUMENT_LIMIT_MAX } from "./rule.ts";

/** The least growth that rounding never swallows: a limit that stands still never recovers. */
const FACTOR_MIN = 1.01;
const VALUE_MIN = 0.01;

/**
 * How a limit grows each second: to `factor` times itself, under either rule, or by `value` requests per
 * second.
 *
 * TChannel's "recover rate 3" is `{ factor: 4 }` in its tables, which add three times the limit, and
 * `{ factor: 3 }` in its text.
 */
export type Recovery = { readonly factor: number } | { readonly value: number };

/** The limit after a second of growth. */
export function grown(limit: number, recover: Recovery): number {
  return "factor" in recover ? limit * recover.factor : limit + recover.value;
}

/** Refuses growth by nothing: a limit that was cut would stay cut for ever. */
export function requireRecovery(recover: Recovery): void {
  if ("factor" in recover) {
    if (recover.factor <= 1)
      throw new ConfigError(
        `recover.factor is ${recover.factor}, so a limit would never recover; use more than 1, e.g. { factor: 3 } to triple it every second`,
      );
    requireNumber("recover.factor", recover.factor, FACTOR_MIN, DOCUMENT_LIMIT_MAX);
  } else if ("value" in recover) {
    if (recover.value <= 0)
      throw new ConfigError(
        `recover.value is ${recover.value}, so a limit would never recover; use more than 0, e.g. { value: 200 } to add 200 requests per second every second`,
      );
    requireNumber("recover.value", recover.value, VALUE_MIN, DOCUMENT_LIMIT_MAX);
  } else {
    throw new ConfigError(
      `recover is ${JSON.stringify(recover)}; use { factor: 3 } to triple the limit every second, or { value: 200 } to add 200 requests per second`,
    );
  }
}
