import { parseBytes } from "./byte-size.ts";

/** What a rate counts. */
export type RateUnit = "messages" | "bytes";

/** A rate that was read, or what was expected instead. */
export type ReadRate = { readonly perSecond: number } | { readonly expected: string };

const PERIOD_S = new Map([
  ["s", 1],
  ["min", 60],
  ["h", 3600],
]);

const FORM = /^([^/]+)\/(s|min|h)$/;
const COUNT = /^\d{1,15}$/;
const EXAMPLES = { messages: "1000/s or 600/min", bytes: "10MB/s or 512KiB/s" } as const;

/**
 * Reads "1000/s", "600/min" or, in bytes, "10MB/s" as a whole number per second. A rate per minute or hour
 * that is no whole number per second is refused, not rounded: a limit is what its file says. A bare number
 * does not say its period.
 */
export function readPerSecond(text: unknown, unit: RateUnit): ReadRate {
  const [, amountText = "", period = ""] = (typeof text === "string" && FORM.exec(text)) || [];
  const amount = unit === "bytes" ? parseBytes(amountText) : countOf(amountText);
  const periodS = PERIOD_S.get(period);
  if (amount === undefined || periodS === undefined)
    return { expected: `${unit} with their period, such as ${EXAMPLES[unit]}` };
  if (amount === 0) return { expected: "a rate above 0; without the key there is no limit" };
  if (amount % periodS === 0) return { perSecond: amount / periodS };
  const below = Math.floor(amount / periodS);
  const near = unit === "bytes" ? `${below + 1}B/s` : `${below + 1}/s`;
  const example =
    below === 0 ? near : `${unit === "bytes" ? `${below}B/s` : `${below}/s`} or ${near}`;
  return { expected: `a whole number of ${unit} per second, such as ${example}` };
}

function countOf(text: string): number | undefined {
  return COUNT.test(text) ? Number(text) : undefined;
}
