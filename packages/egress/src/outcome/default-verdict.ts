import type { Clock } from "@sluice/core";
import type { HeaderSource } from "../hints/header-source.ts";
import { readHints } from "../hints/hints.ts";
import { classifyAwsError } from "./aws-error.ts";
import { knownError } from "./error.ts";
import { classifyGrpcError } from "./grpc-error.ts";
import { answerOf, NO_FIELDS } from "./http-answer.ts";
import { classifyHttp } from "./http.ts";
import { REFUSED_FIELD } from "./refused-field.ts";
import type { Verdict } from "./verdict.ts";

/** The call was served. */
const SERVED: Verdict = { outcome: "ok", retriable: "never" };

/** It tells nothing of the peer. */
export const IGNORED: Verdict = { outcome: "ignored", retriable: "never" };

/** It took too long; whether it was executed is not known. */
export const LATE: Verdict = { outcome: "failed", retriable: "if-idempotent" };

/** Fields that can make a pause of an answer that is fine in itself. */
const LIMIT_FIELDS = [
  "ratelimit",
  "ratelimit-remaining",
  "x-ratelimit-remaining",
  "x-rate-limit-remaining",
];

/** What an HTTP answer means. Most are fine and name no limit: they cost a few lookups. */
function verdictOfHttp(status: number, headers: HeaderSource, wallClock: Clock): Verdict {
  // A gate within the call refused it: the peer was not asked.
  if (status === 429 && typeof headers.get(REFUSED_FIELD) === "string") return IGNORED;
  const isPlain =
    status < 400 && LIMIT_FIELDS.every((name) => (headers.get(name) ?? undefined) === undefined);
  return isPlain ? SERVED : classifyHttp(status, readHints(headers, wallClock.now()));
}

/** What looks like an HTTP answer is judged by its status and fields, anything else was served. */
export function verdictOfValue(value: unknown, wallClock: Clock): Verdict {
  const answer = answerOf(value);
  return answer === undefined ? SERVED : verdictOfHttp(answer.status, answer.headers, wallClock);
}

/**
 * What an error means. Known are, in this order: errors that carry an HTTP answer, or its status and
 * fields (axios, got, openai, @anthropic-ai/sdk and many more), errors of the AWS SDK and of gRPC, errors of
 * the network, errors with an HTTP status alone. Any other error says nothing of the peer.
 */
export function verdictOfError(error: unknown, wallClock: Clock): Verdict {
  if (typeof error !== "object" || error === null) return IGNORED;
  const answer = answerOf("response" in error ? error.response : undefined) ?? answerOf(error);
  if (answer !== undefined) return verdictOfHttp(answer.status, answer.headers, wallClock);
  return (
    classifyAwsError(error, wallClock.now()) ??
    classifyGrpcError(error) ??
    knownError(error) ??
    verdictOfStatus(error, wallClock) ??
    IGNORED
  );
}

/** An error with the status of an HTTP answer and nothing more: `{ status: 429 }`. */
function verdictOfStatus(error: object, wallClock: Clock): Verdict | undefined {
  const { status, statusCode = status }: StatusLike = error;
  if (typeof statusCode !== "number" || !(statusCode >= 400 && statusCode < 600)) return undefined;
  return verdictOfHttp(statusCode, NO_FIELDS, wallClock);
}

interface StatusLike {
  readonly status?: unknown;
  readonly statusCode?: unknown;
}
