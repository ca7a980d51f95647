import type { Clock } from "@sluice/core";
import { readHints } from "../hints/hints.ts";
import type { HeaderSource } from "../hints/header-source.ts";
import { classifyError } from "../outcome/error.ts";
import { classifyHttp } from "../outcome/http.ts";
import type { Verdict } from "../outcome/verdict.ts";

/** It was served. */
const SERVED: Verdict = { outcome: "ok", retriable: "never" };

/** It tells nothing of the peer. */
export const IGNORED: Verdict = { outcome: "ignored", retriable: "never" };

/** It took too long; whether it was executed is not known. */
export const LATE: Verdict = { outcome: "failed", retriable: "if-idempotent" };

/** Fields that can make a pause of an answer that is fine in itself. */
const QUOTA_FIELDS = [
  "ratelimit",
  "ratelimit-remaining",
  "x-ratelimit-remaining",
  "x-rate-limit-remaining",
];

/** What an HTTP answer means. Most are fine and name no quota: they cost a few lookups. */
function verdictOfHttp(status: number, headers: HeaderSource, wallClock: Clock): Verdict {
  const isPlain =
    status < 400 && QUOTA_FIELDS.every((name) => (headers.get(name) ?? undefined) === undefined);
  return isPlain ? SERVED : classifyHttp(status, readHints(headers, wallClock.now()));
}

/** What looks like an HTTP answer is judged by its status and fields, anything else was served. */
export function verdictOfValue(value: unknown, wallClock: Clock): Verdict {
  return verdictOfAnswer(value, wallClock) ?? SERVED;
}

/** An error that carries an HTTP answer, or its status and fields, as clients throw it, is judged by that. */
export function verdictOfError(error: unknown, wallClock: Clock): Verdict {
  const answer =
    typeof error === "object" && error !== null && "response" in error ? error.response : undefined;
  return (
    verdictOfAnswer(answer, wallClock) ?? verdictOfAnswer(error, wallClock) ?? classifyError(error)
  );
}

interface AnswerLike {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly headers?: unknown;
}

/** A `Response` of any make, or an answer with a status code and an object of fields. */
function verdictOfAnswer(value: unknown, wallClock: Clock): Verdict | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { status, statusCode = status, headers }: AnswerLike = value;
  if (typeof statusCode !== "number" || typeof headers !== "object" || headers === null)
    return undefined;
  return verdictOfHttp(statusCode, isSource(headers) ? headers : fieldsOf(headers), wallClock);
}

function isSource(headers: object): headers is HeaderSource {
  return "get" in headers && typeof headers.get === "function";
}

/** Fields in an object, whatever the case of their names. */
function fieldsOf(headers: object): HeaderSource {
  const fields = hasSmallNames(headers) ? (headers as Fields) : withSmallNames(headers);
  return {
    get: (name) => {
      const value = fields[name];
      // A field that came twice counts as its first: two values at once would be none.
      const first: unknown = Array.isArray(value) ? value[0] : value;
      if (typeof first === "number") return String(first);
      return typeof first === "string" ? first : undefined;
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** So most clients give them; then nothing has to be copied. */
function hasSmallNames(headers: object): boolean {
  for (const name in headers) if (name !== name.toLowerCase()) return false;
  return true;
}

function withSmallNames(headers: object): Fields {
  const fields = Object.entries(headers as Fields);
  return Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
}
