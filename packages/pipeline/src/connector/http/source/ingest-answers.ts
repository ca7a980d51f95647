import { formatRateLimit, formatRateLimitPolicy } from "@sluice/egress/server";

/** An answer: status, fields and a body of JSON. */
export interface IngestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the fields of a refusal are made of. */
export interface RoomFacts {
  readonly bufferMax: number;
  readonly room: number;
  /** Messages that the pipeline read per second, over the last seconds. */
  readonly perSecond: number;
}

const PROBLEM_TYPE = "application/problem+json";
const JSON_TYPE = "application/json";
const PROBLEM_TYPES = "https://iana.org/assignments/http-problem-types#";
const POLICY = "buffer";

/** Bounds of `Retry-After`, s. Below 1 there is none; above 60 a client would sleep through a raised limit. */
const RETRY_AFTER_MIN_S = 1;
const RETRY_AFTER_MAX_S = 60;
/** `Retry-After` while nothing was read lately, s: the pace is not known then, and a refusal costs little. */
const RETRY_AFTER_UNKNOWN_S = 2;

/** `Retry-After` of an endpoint that stops, s: a replacement has usually started by then. */
const STOPPING_RETRY_AFTER_S = 5;

/** Whole seconds until there is room for `count` messages at the present pace: ⌈(count − room) ÷ perSecond⌉, within bounds. */
export function retryAfterSeconds(count: number, { room, perSecond }: RoomFacts): number {
  const missing = Math.max(1, count - room);
  const seconds = perSecond > 0 ? Math.ceil(missing / perSecond) : RETRY_AFTER_UNKNOWN_S;
  return Math.min(Math.max(seconds, RETRY_AFTER_MIN_S), RETRY_AFTER_MAX_S);
}

/** What an endpoint has no room for, in half a sentence. */
export function messagesText(count: number, { room, bufferMax }: RoomFacts): string {
  return `${room} of ${bufferMax} places for messages are free, and ${count} are needed`;
}

/** 429: the pipeline reads more slowly than messages come. `full` says what there is no room for. */
export function noRoom(count: number, facts: RoomFacts, full: string): IngestAnswer {
  const seconds = retryAfterSeconds(count, facts);
  const { bufferMax } = facts;
  const detail = `the pipeline reads more slowly than messages come: ${full}; send again in ${seconds} s`;
  return {
    status: 429,
    headers: {
      "Retry-After": String(seconds),
      "RateLimit-Policy": formatRateLimitPolicy([
        { policy: POLICY, quota: bufferMax, unit: "requests" },
      ]),
      // What is left does not suffice for this request, and a client should not try it with another.
      RateLimit: formatRateLimit([{ policy: POLICY, remaining: 0, resetMs: seconds * 1000 }]),
      ...PROBLEM_FIELDS,
    },
    body: {
      type: `${PROBLEM_TYPES}quota-exceeded`,
      title: "No room",
      status: 429,
      detail,
      "violated-policies": [POLICY],
    },
  };
}

/** 503: the endpoint stops; messages that were read may have been processed. */
export function stopping(): IngestAnswer {
  return {
    status: 503,
    headers: {
      "Retry-After": String(STOPPING_RETRY_AFTER_S),
      Connection: "close",
      ...PROBLEM_FIELDS,
    },
    body: {
      type: `${PROBLEM_TYPES}temporary-reduced-capacity`,
      title: "Stopping",
      status: 503,
      detail: "the pipeline stops; send again, with the same Idempotency-Key if there is one",
    },
  };
}

/** 504: no acknowledgement in time. */
export function tooLate(timeoutMs: number): IngestAnswer {
  const detail = `not all messages were acknowledged within ${timeoutMs} ms; some may have been processed`;
  return problem(504, "Too late", detail, { "Retry-After": "1" });
}

/** A request that cannot be served as it is. */
export function problem(
  status: number,
  title: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): IngestAnswer {
  return {
    status,
    headers: { ...PROBLEM_FIELDS, ...headers },
    body: { type: "about:blank", title, status, detail },
  };
}

export function done(status: 200 | 202, messages: number): IngestAnswer {
  return {
    status,
    headers: { "Content-Type": JSON_TYPE },
    body: status === 200 ? { acknowledged: messages } : { accepted: messages },
  };
}

/** What a GET answers: what this is and how to use it. */
export function description(facts: Readonly<Record<string, unknown>>): IngestAnswer {
  return { status: 200, headers: { "Content-Type": JSON_TYPE, ...NO_STORE }, body: facts };
}

const NO_STORE = { "Cache-Control": "no-store" };
const PROBLEM_FIELDS = { "Content-Type": PROBLEM_TYPE, ...NO_STORE };
