import { parseDurationMs, readPerSecond, SECOND_MS } from "@sluice/core/internal";
import type { RateUnit } from "@sluice/core/internal";
import type { SubscribeRate } from "../../ingress/dispatch/subscribe-rates.ts";
import { UNLIMITED } from "../../ingress/limits/rate-limit.ts";
import type { RateLimit } from "../../ingress/limits/rate-limit.ts";
import { HttpError } from "../http/http-error.ts";
import { objectOf, shown, wholeWithin } from "../http/request.ts";

/** What is expected of a body. */
const EXPECTED = '{"messages": "1000/s", "bytes": "10MB/s"}, one of them, or {"unlimited": true}';
const SUBSCRIBE_EXPECTED = '{"subscribes": 10, "periodMs": 30000} or {"unlimited": true}';

const SUBSCRIBE_PERIOD_MS = 30_000;
/** The longest period: a day. */
const PERIOD_MAX_MS = 86_400_000;

/** The body of PUT `/api/limits` for publishing and for deliveries. */
export function limitFrom(body: unknown): RateLimit {
  const { messages, bytes, unlimited, ...others } = objectOf("the body", body);
  requireNoOthers(others, EXPECTED);
  const isUnlimited = unlimited === true;
  const limit = {
    ...(isGiven(messages) && { messages: rateOf("messages", messages) }),
    ...(isGiven(bytes) && { bytes: rateOf("bytes", bytes) }),
  };
  const isEmpty = Object.keys(limit).length === 0;
  if (isUnlimited !== isEmpty)
    throw new HttpError(400, `the body is ${shown(body)}; expected ${EXPECTED}`);
  return isUnlimited ? UNLIMITED : limit;
}

/** The body of PUT `/api/limits/subscribe`. */
export function subscribeRateFrom(body: unknown): SubscribeRate {
  const { subscribes, periodMs, unlimited, ...others } = objectOf("the body", body);
  requireNoOthers(others, SUBSCRIBE_EXPECTED);
  if ((unlimited === true) === isGiven(subscribes))
    throw new HttpError(400, `the body is ${shown(body)}; expected ${SUBSCRIBE_EXPECTED}`);
  if (unlimited === true) return { periodMs: SUBSCRIBE_PERIOD_MS };
  return {
    subscribes: wholeWithin("subscribes", subscribes, 1, Number.MAX_SAFE_INTEGER),
    periodMs: isGiven(periodMs) ? periodOf(periodMs) : SUBSCRIBE_PERIOD_MS,
  };
}

/** Whole seconds, as Pulsar's policies count them. */
function periodOf(value: unknown): number {
  const ms = typeof value === "string" ? (parseDurationMs(value) ?? value) : value;
  const whole = wholeWithin("periodMs", ms, SECOND_MS, PERIOD_MAX_MS);
  if (whole % SECOND_MS === 0) return whole;
  throw new HttpError(400, `periodMs is ${shown(value)}; expected whole seconds, such as 30000`);
}

function requireNoOthers(others: object, expected: string): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new HttpError(400, `${shown(unknown)} is not known here; expected ${expected}`);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A whole number per second, or a text such as "1000/s". */
function rateOf(unit: RateUnit, value: unknown): number {
  if (typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value)))
    return wholeWithin(unit, value, 1, Number.MAX_SAFE_INTEGER);
  const read = readPerSecond(value, unit);
  if ("perSecond" in read) return read.perSecond;
  throw new HttpError(400, `${unit} is ${shown(value)}; expected ${read.expected}`);
}
