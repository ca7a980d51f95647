import { REFUSED_FIELD } from "../outcome/refused-field.ts";
import { ThrottledError } from "../gate/error/throttled-error.ts";

/**
 * A response for a request that the gate refused; every other error is thrown on. The SDKs of OpenAI and
 * Anthropic take each error of `fetch` for a broken connection and send again; of a response they obey
 * `x-should-retry`, and make an error of it that has its status, fields and text.
 */
export function respondIfRefused(error: unknown): Response {
  if (!(error instanceof ThrottledError)) throw error;
  const { message, reason, retryAfterMs, rate } = error;
  const headers = new Headers({
    "content-type": "application/json",
    "x-should-retry": "false",
    [REFUSED_FIELD]: reason,
  });
  if (retryAfterMs !== undefined) {
    headers.set("retry-after-ms", String(Math.ceil(retryAfterMs)));
    headers.set("retry-after", String(Math.ceil(retryAfterMs / 1000)));
  }
  const body = JSON.stringify({
    error: { type: "throttled", code: "THROTTLED", message, reason, rate, retryAfterMs },
  });
  return new Response(body, { status: 429, statusText: "Too Many Requests", headers });
}

/** What is looked at of an error: those of SDKs carry the fields of the answer. */
interface ErrorLike {
  readonly cause?: unknown;
  readonly headers?: unknown;
}

/** The longest chain of causes that is looked at. */
const CAUSES_MAX = 8;

/**
 * Whether an error, or one of its causes, is a refusal of a gate: the request was not sent. Also knows the
 * errors that SDKs make of a refusal, with `refusals: "respond"` or without.
 */
export function isRefusal(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < CAUSES_MAX; depth++) {
    if (current instanceof ThrottledError) return true;
    if (typeof current !== "object" || current === null) return false;
    const { cause, headers }: ErrorLike = current;
    if (hasField(headers)) return true;
    current = cause;
  }
  return false;
}

function hasField(headers: unknown): boolean {
  if (headers instanceof Headers) return headers.has(REFUSED_FIELD);
  return typeof headers === "object" && headers !== null && REFUSED_FIELD in headers;
}
