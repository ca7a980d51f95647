import type { Hint } from "../hints/hint.ts";
import { exhausted } from "../hints/hints.ts";
import type { Hints } from "../hints/hints.ts";
import type { Verdict } from "./verdict.ts";

const NO_HINTS: Hints = { limits: [] };

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
 * A 503 may come from a proxy that lost its server in the middle of the work. A 503 with a `Retry-After`
 * was meant; one that only tells of a limit need not be, since such a proxy does so with every answer.
 * `Retry-After` makes a pause only with busy: a 202 or a redirect that carries it speaks of itself alone.
 * If the limits that were exceeded have names, the pause is one of these limits; else of all calls. A limit
 * that is used up is in the hints of any answer, or only of a busy one if it refills gradually. `x-should-retry: false` forbids the retry.
 */
export function classifyHttp(status: number, hints: Hints = NO_HINTS): Verdict {
  const verdict = verdictOf(status, hints);
  const limits = exhausted(hints.limits).filter((limit) => isToBeHeeded(limit, verdict));
  if (hints.shouldRetry === undefined && limits.length === 0 && hints.retryAfterMs === undefined)
    return verdict;
  return {
    ...verdict,
    ...(hints.shouldRetry === false ? { retriable: "never" } : {}),
    ...pausesOf(verdict, hints, limits),
  };
}

/**
 * A limit that refills gradually is at 0 in many answers of a caller that uses all of it at an even pace:
 * only a refusal shows that the pace is too fast.
 */
function isToBeHeeded({ isGradual = false }: Hint, { outcome }: Verdict): boolean {
  return outcome === "busy" || !isGradual;
}

/** What the answer asks for: of all calls, or of single limits. */
function pausesOf(
  { outcome, scope }: Verdict,
  { retryAfterMs, limits: all }: Hints,
  limits: readonly Hint[],
): Pick<Verdict, "pauseMs" | "hints"> {
  if (outcome !== "busy" || retryAfterMs === undefined)
    return limits.length === 0 ? {} : { hints: limits };
  const used = exceeded(all);
  const isOfNamedLimits = used.length > 0 && used.every(({ rate }) => rate !== undefined);
  if (scope === "over-quota" && isOfNamedLimits)
    return { hints: used.map((limit) => ({ ...limit, retryAfterMs })) };
  return { pauseMs: retryAfterMs };
}

/**
 * The limits that a refusal was about: those that are used up, whether they say until when or not. A call
 * of many tokens is refused while some are left: then it is the limit with the smallest part left, and not
 * one of requests, of which a call needs one.
 */
function exceeded(limits: readonly Hint[]): readonly Hint[] {
  const used = limits.filter(({ remaining }) => remaining === 0);
  if (used.length > 0) return used;
  const [fewest] = limits
    .filter(({ isGradual, isOfEveryCall }) => isGradual === true && isOfEveryCall !== true)
    .toSorted((one, other) => partLeft(one) - partLeft(other));
  return fewest === undefined ? [] : [fewest];
}

function partLeft({ remaining = 0, limit = Infinity }: Hint): number {
  return remaining / Math.max(1, limit);
}

function verdictOf(status: number, { retryAfterMs, limits }: Hints): Verdict {
  if (status === 503) {
    const retriable = retryAfterMs === undefined ? "if-idempotent" : "safe";
    return { outcome: "busy", retriable, scope: "overloaded" };
  }
  // Some services, GitHub among them, refuse so a caller that is over its quota.
  if (status === 403 && (retryAfterMs !== undefined || exhausted(limits).length > 0))
    return { outcome: "busy", retriable: "safe", scope: "over-quota" };
  const exception = EXCEPTIONS.get(status);
  if (exception !== undefined) return exception;
  if (status >= 100 && status < 400) return SERVED;
  if (status >= 500 && status < 600) return BROKEN;
  return TURNED_DOWN;
}
