/** The field of every request of an SDK that Stainless generates, such as `openai` and `@anthropic-ai/sdk`. */
const RETRY_COUNT_FIELD = "x-stainless-retry-count";

/**
 * Whether the request comes from an SDK that sends again after any error of its `fetch`, and obeys the
 * `x-should-retry` of an answer. Such an SDK has no other way to be told that a request was refused.
 */
export function isOfRetryingSdk(init: RequestInit | undefined): boolean {
  // What programs without types pass is for `fetch` to refuse.
  const headers: unknown = init?.headers;
  if (typeof headers !== "object" || headers === null) return false;
  return headers instanceof Headers ? headers.has(RETRY_COUNT_FIELD) : RETRY_COUNT_FIELD in headers;
}
