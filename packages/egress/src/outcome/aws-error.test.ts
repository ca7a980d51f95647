import { describe, expect, test } from "vitest";
import { classifyAwsError } from "./aws-error.ts";

const THROTTLED = { outcome: "busy", retriable: "safe", scope: "over-quota" };

/** The shape of `ServiceException` in `@smithy/core` 3, with what its deserializer and retries add. */
function serviceException(
  name: string,
  httpStatusCode: number | undefined,
  more: object = {},
): Error {
  return Object.assign(new Error("Rate exceeded"), {
    name,
    $fault: "client",
    $metadata: { httpStatusCode, requestId: "abc", attempts: 1, totalRetryDelay: 0 },
    ...more,
  });
}

test.each([
  ["ThrottlingException", 400],
  ["Throttling", 400],
  ["ProvisionedThroughputExceededException", 400],
  ["RequestLimitExceeded", 503],
  ["SlowDown", 503],
  ["TooManyRequestsException", 429],
  ["EC2ThrottledException", 400],
  ["RequestThrottled", undefined],
])("%s with status %s is a busy answer that was not begun", (name, status) => {
  expect(classifyAwsError(serviceException(name, status), 0)).toEqual(THROTTLED);
});

test("a trait of the model marks throttling under any name", () => {
  const error = serviceException("KMSThrottle", 400, { $retryable: { throttling: true } });
  expect(classifyAwsError(error, 0)).toEqual(THROTTLED);
});

test.each([
  ["ResourceNotFoundException", 400, { outcome: "ignored", retriable: "never" }],
  ["ConditionalCheckFailedException", 400, { outcome: "ignored", retriable: "never" }],
  ["InternalServerError", 500, { outcome: "failed", retriable: "if-idempotent" }],
  ["RequestTimeout", 400, { outcome: "failed", retriable: "if-idempotent" }],
  ["ServiceUnavailable", 503, { outcome: "busy", retriable: "if-idempotent", scope: "overloaded" }],
])("%s with status %d is judged by its status", (name, status, expected) => {
  expect(classifyAwsError(serviceException(name, status), 0)).toEqual(expected);
});

describe("a hint in the answer", () => {
  test.each([
    [{ "retry-after": "2" }, 2000],
    [{ "x-amz-retry-after": "350" }, 350],
  ])("%j is a pause of %d ms", (headers, pauseMs) => {
    const $response = { statusCode: 400, headers };
    const error = serviceException("ThrottlingException", 400, { $response });
    expect(classifyAwsError(error, 0)).toEqual({ ...THROTTLED, pauseMs });
  });
});

test.each([
  undefined,
  "ThrottlingException",
  Object.assign(new Error("no"), { name: "ThrottlingException" }),
  Object.assign(new Error("connect"), { code: "ECONNREFUSED", $metadata: { attempts: 3 } }),
  Object.assign(new Error("no"), { $metadata: null }),
])("%s is no answer of AWS", (error) => {
  expect(classifyAwsError(error, 0)).toBeUndefined();
});
