import { HINT_MAX_CHARS, parseDecimalUp, PAUSE_MAX_MS } from "./decimal.ts";

/** Powers of ten and factors that turn each unit of Go's `time.Duration` into milliseconds. */
const UNITS: Readonly<Record<string, { readonly shift: number; readonly times: number }>> = {
  h: { shift: 3, times: 3600 },
  m: { shift: 3, times: 60 },
  s: { shift: 3, times: 1 },
  ms: { shift: 0, times: 1 },
  us: { shift: -3, times: 1 },
  µs: { shift: -3, times: 1 },
  μs: { shift: -3, times: 1 },
  ns: { shift: -6, times: 1 },
};

const DURATION = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|μs|ns))+$/;
const PART = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|μs|ns)/g;

/**
 * Milliseconds of a duration as Go prints it (`6m0s`, `1.5s`, `120ms`, `1h2m3.5s`), rounded up part by
 * part; undefined for anything else. A number without a unit, a sign and `0` alone are something else.
 */
export function parseGoDurationMs(text: string): number | undefined {
  if (text.length > HINT_MAX_CHARS || !DURATION.test(text)) return undefined;
  let totalMs = 0;
  for (const [, digits = "", name = ""] of text.matchAll(PART)) {
    const unit = UNITS[name];
    const ms = unit === undefined ? undefined : partMs(digits, unit.shift);
    if (unit === undefined || ms === undefined) return undefined;
    totalMs += ms * unit.times;
  }
  return Math.min(Math.ceil(totalMs), PAUSE_MAX_MS);
}

/** Units below a millisecond are divided after the digits were read: a part of one is a whole one. */
function partMs(digits: string, shift: number): number | undefined {
  const value = parseDecimalUp(digits, Math.max(0, shift));
  return value === undefined || shift >= 0 ? value : Math.ceil(value / 10 ** -shift);
}
