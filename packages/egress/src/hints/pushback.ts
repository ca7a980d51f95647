import { HINT_MAX_CHARS, PAUSE_MAX_MS } from "./time/decimal.ts";

/** A gRPC server's hint on a retry: after `pauseMs`, or never. */
export type Pushback =
  | { readonly kind: "after"; readonly pauseMs: number }
  | { readonly kind: "never" };

/**
 * Reads `grpc-retry-pushback-ms`: whole milliseconds. A negative number forbids the retry. A text that is no number
 * forbids it too: sending again against an unreadable hint is worse than not sending again.
 */
export function parsePushback(value: string): Pushback {
  if (value.length > HINT_MAX_CHARS || !/^\d+$/.test(value)) return { kind: "never" };
  return { kind: "after", pauseMs: Math.min(Number(value), PAUSE_MAX_MS) };
}
