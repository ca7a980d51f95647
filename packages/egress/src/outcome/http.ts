import { exhaustedForMs } from "../hints/hints.ts";
import type { Hints } from "../hints/hints.ts";
import type { Verdict } from "./verdict.ts";

const NO_HINTS: Hints = { quotas: [] };

const SERVED: Verdict = { outcome: "ok", retriable: "never" };
/** Answered before any real work, so faster than that; a limit that believed it would rise too far. */
const TURNED_DOWN: Verdict = { outcome: "ignored", retriable: "never" };
const BROKEN: Verdict = { outcome: "failed", retriable: "if-idempotent" };
const NOT_BEGUN: Verdict = { outcome: "ignored", retriable: "safe" };

/** Statuses that do not mean what others of their hundred mean. */
const EXCEPTIONS: ReadonlyMap<number, Verdict> = new Map([
  // Meant for a request that never came in full; but gateways also send it for their own timeouts.
  [408, BROKEN],
  // Another connection, or the same a little later, may be the right one for it.
  [421, NOT_BEGUN],
  [425, NOT_BEGUN],
  [429, { outcome: "busy", retriable: "safe", scope: "over-quota" }],
  // Not implemented, version not supported, negotiation loop: no matter of load.
  [501, TURNED_DOWN],
  [505, TURNED_DOWN],
  [506, TURNED_DOWN],
  // Storage is full, a loop, an extension is missing: a repetition changes nothing.
  [507, TURNED_DOWN],
  [508, TURNED_DOWN],
  [510, TURNED_DOWN],
  // A portal on the way wants a login; the peer was not reached.
  [511, TURNED_DOWN],
  // In no standard, so no proxy sends it by itself: the service refused.
  [529, { outcome: "busy", retriable: "safe", scope: "overloaded" }],
]);

/**
 * What an HTTP answer means for the peer's load and for a retry.
 *
 * | status | outcome | retriable |
 * | --- | --- | --- |
 * | 1xx to 3xx | ok | never |
 * | 429; 403 that says when to come back | busy, over-quota | safe |
 * | 503 | busy, overloaded | safe if it says outright when to come back, else if-idempotent |
 * | 529 | busy, overloaded | safe |
 * | 408, other 5xx | failed | if-idempotent |
 * | 421, 425 | ignored | safe |
 * | other 4xx, 501, 505 to 508, 510, 511, no status at all | ignored | never |
 *
 * A 503 may come from a proxy that lost its server in the middle of the work. One that says when to
 * come back was meant; one that only tells of a quota need not be, since such a proxy does so with
 * every answer. `Retry-After` makes a pause only with busy: a 202 or a redirect that carries it
 * speaks of itself alone. Quotas that are used up make a pause with any answer.
 */
export function classifyHttp(status: number, hints: Hints = NO_HINTS): Verdict {
  const verdict = verdictOf(status, hints);
  const pauseMs = verdict.outcome === "busy" ? hints.pauseMs : exhaustedForMs(hints.quotas);
  return pauseMs === undefined ? verdict : { ...verdict, pauseMs };
}

function verdictOf(status: number, { pauseMs, retryAfterMs }: Hints): Verdict {
  if (status === 503) {
    const retriable = retryAfterMs === undefined ? "if-idempotent" : "safe";
    return { outcome: "busy", retriable, scope: "overloaded" };
  }
  // Some services, GitHub among them, refuse so those who are over their quota.
  if (status === 403 && pauseMs !== undefined)
    return { outcome: "busy", retriable: "safe", scope: "over-quota" };
  const exception = EXCEPTIONS.get(status);
  if (exception !== undefined) return exception;
  if (status >= 100 && status < 400) return SERVED;
  if (status >= 500 && status < 600) return BROKEN;
  return TURNED_DOWN;
}
