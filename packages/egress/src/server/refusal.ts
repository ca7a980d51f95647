/** Fields of an answer, by name. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/**
 * `over-quota`: the key has used its quota. `concurrency`: as many requests are in flight as may be.
 * `store-lost`: the shared quotas cannot be read, and `onStoreLoss` is `closed`.
 */
export type InboundReason = "over-quota" | "concurrency" | "store-lost";

/** A request that is turned away, and the whole answer to it. It cost its key nothing. */
export interface Refused {
  readonly admitted: false;
  readonly status: 429 | 503;
  readonly reason: InboundReason;
  /** How long to stay away; the field `Retry-After` says it in whole seconds, rounded up. */
  readonly retryAfterMs: number;
  readonly headers: AnswerHeaders;
  /** `application/problem+json`, as RFC 9457 has it. */
  readonly body: string;
}

export interface RefusalFacts {
  readonly reason: InboundReason;
  readonly retryAfterMs: number;
  /** The quota fields, which an admitted request gets as well. */
  readonly quotaHeaders: AnswerHeaders;
  /** Names of the policies that had not enough. */
  readonly violated: readonly string[];
}

const PROBLEM_TYPES = "https://iana.org/assignments/http-problem-types#";

/** The answer to a request that is turned away. */
export function refusal(facts: RefusalFacts): Refused {
  const { reason, retryAfterMs, quotaHeaders, violated } = facts;
  const isOverQuota = reason === "over-quota";
  const status = isOverQuota ? 429 : 503;
  const problem = isOverQuota
    ? { type: `${PROBLEM_TYPES}quota-exceeded`, title: "Quota exceeded", status }
    : {
        type: `${PROBLEM_TYPES}temporary-reduced-capacity`,
        title: "No capacity at the moment",
        status,
      };
  const body = JSON.stringify(
    isOverQuota ? { ...problem, "violated-policies": violated } : problem,
  );
  const headers = {
    ...quotaHeaders,
    "Retry-After": String(Math.ceil(retryAfterMs / 1000)),
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
  };
  return { admitted: false, status, reason, retryAfterMs, headers, body };
}
