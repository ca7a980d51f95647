import { DURATION_MAX_MS, SECOND_MS } from "@sluice/core/internal";
import type {
  PulsarDispatchRate,
  PulsarSubscribeRate,
} from "../../../ingress/dispatch/pulsar-dispatch-rate.ts";
import type { PublishRateValue } from "../../../limit-book/publish-rate.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf, wholeWithin } from "../../http/request.ts";
import type { AdminRequest } from "../../http/request.ts";

/** Beyond this a number of JSON is not exact. */
const RATE_MAX = Number.MAX_SAFE_INTEGER;

/** Undefined for `null`, which Pulsar takes for no change. */
export function publishRateFrom(request: AdminRequest): PublishRateValue | undefined {
  const body = request.json();
  if (body === undefined) return undefined;
  const given = objectOf("the body", body);
  const { publishThrottlingRateInMsg: messages = -1, publishThrottlingRateInByte: bytes = -1 } =
    given;
  return {
    publishThrottlingRateInMsg: rateOf("publishThrottlingRateInMsg", messages),
    publishThrottlingRateInByte: rateOf("publishThrottlingRateInByte", bytes),
  };
}

/** The longest period, s. */
const PERIOD_MAX_S = Math.floor(DURATION_MAX_MS / SECOND_MS);

/** Undefined for `null`, which Pulsar takes for no change. */
export function dispatchRateFrom(request: AdminRequest): Required<PulsarDispatchRate> | undefined {
  const body = request.json();
  if (body === undefined) return undefined;
  const {
    dispatchThrottlingRateInMsg: messages = -1,
    dispatchThrottlingRateInByte: bytes = -1,
    relativeToPublishRate = false,
    ratePeriodInSecond = 1,
  } = objectOf("the body", body);
  if (relativeToPublishRate !== false && relativeToPublishRate !== null)
    throw new HttpError(
      405,
      "relativeToPublishRate is not supported; set the sum of both rates without it",
    );
  return {
    dispatchThrottlingRateInMsg: rateOf("dispatchThrottlingRateInMsg", messages),
    dispatchThrottlingRateInByte: rateOf("dispatchThrottlingRateInByte", bytes),
    relativeToPublishRate: false,
    ratePeriodInSecond: periodOf(ratePeriodInSecond),
  };
}

export function subscribeRateFrom(
  request: AdminRequest,
): Required<PulsarSubscribeRate> | undefined {
  const body = request.json();
  if (body === undefined) return undefined;
  const { subscribeThrottlingRatePerConsumer: subscribes = -1, ratePeriodInSecond = 30 } = objectOf(
    "the body",
    body,
  );
  return {
    subscribeThrottlingRatePerConsumer: rateOf("subscribeThrottlingRatePerConsumer", subscribes),
    ratePeriodInSecond: periodOf(ratePeriodInSecond),
  };
}

function periodOf(value: unknown): number {
  return wholeWithin("ratePeriodInSecond", value, 1, PERIOD_MAX_S);
}

/** A rate of Pulsar's, in which 0 and less are no limit. */
export function rateOf(name: string, value: unknown): number {
  return Math.max(-1, wholeWithin(name, value, -RATE_MAX, RATE_MAX));
}
