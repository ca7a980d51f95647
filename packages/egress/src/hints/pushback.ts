import { HINT_MAX_CHARS, PAUSE_MAX_MS } from "./time/decimal.ts";

/** A gRPC server's word on a retry: after so long, or not at all. */
export type Pushback =
  | { readonly kind: "after"; readonly pauseMs: number }
  | { readonly kind: "never" };

/**
 * Reads `grpc-retry-pushback-ms`: whole milliseconds. A negative number forbids the retry, and so
 * does anything that is no number: a server that speaks of retries at all had better be understood.
 */
export function parsePushback(value: string): Pushback {
  if (value.length > HINT_MAX_CHARS || !/^\d+$/.test(value)) return { kind: "never" };
  return { kind: "after", pauseMs: Math.min(Number(value), PAUSE_MAX_MS) };
}
