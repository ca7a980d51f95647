import { requireKnownKeys } from "@sluice/core/internal";
import { clientKey } from "./client-key.ts";
import { createInboundLimiter } from "./inbound-limiter.ts";
import type { InboundDecision, InboundLimiter, InboundLimiterOptions } from "./inbound-limiter.ts";

/** What a limiter is told of a request. */
export interface RequestRules<R> {
  /**
   * Whose quota it uses, such as a user that has been verified; the client's address unless given,
   * and for requests of which it answers undefined. Whatever a client can make up, such as a field
   * nobody has checked, is no key: each new value is a new quota.
   */
  readonly key?: (request: R) => string | undefined;
  /** What it counts for, whole; 1 unless given. */
  readonly cost?: (request: R) => number;
  /** Whether it passes unlimited and uncounted. */
  readonly exempt?: (request: R) => boolean;
}

/** A middleware makes its own limiter, or uses one that others use as well. */
export type LimitOptions<R> = RequestRules<R> &
  (InboundLimiterOptions | { readonly limiter: InboundLimiter });

const SHARED_KEYS: ReadonlySet<string> = new Set(["limiter"]);

/** Judges requests; undefined for those that are exempt. */
export function createJudge<R>(
  options: LimitOptions<R>,
  addressOf: (request: R) => string | undefined,
): (request: R) => InboundDecision | undefined {
  const { key, cost, exempt, ...rest } = options;
  // A limiter that is shared has its settings already.
  if ("limiter" in rest) requireKnownKeys("a middleware with a limiter", rest, SHARED_KEYS);
  const limiter = "limiter" in rest ? rest.limiter : createInboundLimiter(rest);
  return (request) => {
    if (exempt?.(request) === true) return undefined;
    const own = key?.(request);
    // Told apart, so that no key can be chosen that is somebody's address.
    const quotaKey = own === undefined ? `address ${clientKey(addressOf(request))}` : `key ${own}`;
    return limiter.check(quotaKey, cost?.(request));
  };
}
