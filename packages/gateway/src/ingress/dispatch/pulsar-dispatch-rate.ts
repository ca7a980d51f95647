import { ConfigError } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import type { DispatchRate } from "./dispatch-rate.ts";
import type { SubscribeRate } from "./subscribe-rates.ts";

/** Pulsar's body of dispatchRate and subscriptionDispatchRate. */
export interface PulsarDispatchRate {
  readonly dispatchThrottlingRateInMsg?: number | undefined;
  readonly dispatchThrottlingRateInByte?: number | undefined;
  readonly relativeToPublishRate?: boolean | undefined;
  readonly ratePeriodInSecond?: number | undefined;
}

/** Pulsar's body of subscribeRate. */
export interface PulsarSubscribeRate {
  readonly subscribeThrottlingRatePerConsumer?: number | undefined;
  readonly ratePeriodInSecond?: number | undefined;
}

/** A rate of 0 or less is no limit, as in Pulsar. Throws a `ConfigError` for a relative rate. */
export function dispatchRateOf(body: PulsarDispatchRate): DispatchRate {
  if (body.relativeToPublishRate === true)
    throw new ConfigError(
      "relativeToPublishRate is true, which is not supported; set the sum of both rates with relativeToPublishRate: false",
    );
  return {
    messages: limited(body.dispatchThrottlingRateInMsg),
    bytes: limited(body.dispatchThrottlingRateInByte),
    periodMs: (limited(body.ratePeriodInSecond) ?? 1) * SECOND_MS,
  };
}

export function pulsarDispatchRateOf(rate: DispatchRate): Required<PulsarDispatchRate> {
  const { messages = -1, bytes = -1, periodMs = SECOND_MS } = rate;
  return {
    dispatchThrottlingRateInMsg: messages,
    dispatchThrottlingRateInByte: bytes,
    relativeToPublishRate: false,
    ratePeriodInSecond: Math.ceil(periodMs / SECOND_MS),
  };
}

/** Pulsar's default period of a subscribe rate, s. */
const SUBSCRIBE_PERIOD_S = 30;

/** A rate of 0 or less is no limit, as in Pulsar. */
export function subscribeRateOf(body: PulsarSubscribeRate): SubscribeRate {
  return {
    subscribes: limited(body.subscribeThrottlingRatePerConsumer),
    periodMs: (limited(body.ratePeriodInSecond) ?? SUBSCRIBE_PERIOD_S) * SECOND_MS,
  };
}

export function pulsarSubscribeRateOf(rate: SubscribeRate): Required<PulsarSubscribeRate> {
  const { subscribes = -1, periodMs = SUBSCRIBE_PERIOD_S * SECOND_MS } = rate;
  return {
    subscribeThrottlingRatePerConsumer: subscribes,
    ratePeriodInSecond: Math.ceil(periodMs / SECOND_MS),
  };
}

function limited(value = -1): number | undefined {
  return value > 0 ? value : undefined;
}
