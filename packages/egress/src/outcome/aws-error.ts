import { readHints } from "../hints/hints.ts";
import { classifyHttp } from "./http.ts";
import { NO_FIELDS, sourceOf } from "./http-answer.ts";
import type { Verdict } from "./verdict.ts";

/** Names by which services of AWS refuse a call that comes too often (`@smithy/core` 3, retry). */
const THROTTLING: ReadonlySet<string> = new Set([
  "BandwidthLimitExceeded",
  "EC2ThrottledException",
  "LimitExceededException",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
  "TransactionInProgressException",
]);

/** Names of timeouts that the service reports. */
const TIMEOUTS: ReadonlySet<string> = new Set(["RequestTimeout", "RequestTimeoutException"]);

const THROTTLED: Verdict = { outcome: "busy", retriable: "safe", scope: "over-quota" };
const LATE: Verdict = { outcome: "failed", retriable: "if-idempotent" };

/** A `ServiceException` of the AWS SDK v3, by its looks. */
interface ServiceExceptionLike {
  readonly name?: unknown;
  readonly $metadata: object;
  readonly $retryable?: unknown;
  readonly $response?: unknown;
}

/**
 * What an error of the AWS SDK v3 means: throttling by its name or by `$retryable.throttling`, anything
 * else by `$metadata.httpStatusCode`. Undefined for an error without `$metadata`, and for one without an
 * answer, such as a lost connection.
 *
 * @param wallNowMs For a `Retry-After` that is a date.
 */
export function classifyAwsError(error: unknown, wallNowMs: number): Verdict | undefined {
  if (!isServiceException(error)) return undefined;
  const { name, $metadata, $retryable, $response } = error;
  const status = "httpStatusCode" in $metadata ? $metadata.httpStatusCode : undefined;
  const headers = sourceOf(partOf($response, "headers")) ?? NO_FIELDS;
  const hints = readHints(headers, wallNowMs);
  if (partOf($retryable, "throttling") === true || THROTTLING.has(String(name)))
    return hints.retryAfterMs === undefined
      ? THROTTLED
      : { ...THROTTLED, pauseMs: hints.retryAfterMs };
  if (typeof status !== "number") return undefined;
  return TIMEOUTS.has(String(name)) ? LATE : classifyHttp(status, hints);
}

function isServiceException(error: unknown): error is ServiceExceptionLike {
  if (typeof error !== "object" || error === null || !("$metadata" in error)) return false;
  return typeof error.$metadata === "object" && error.$metadata !== null;
}

function partOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
