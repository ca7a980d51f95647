import { UNLIMITED } from "../ingress/limits/rate-limit.ts";
import type { LimitTarget, RateLimit } from "../ingress/limits/rate-limit.ts";
import type { ResourceGroup, StoredRate } from "../policy/limits-record.ts";

/** Policy of a topic or a namespace, by Pulsar's REST name. */
export const PUBLISH_RATE = "publishRate";
/** Policy of a namespace: the name of its resource group. */
export const RESOURCE_GROUP = "resourcegroup";

/** A publish rate as Pulsar writes it: per second, 0 or less for no limit. */
export interface PublishRateValue {
  readonly publishThrottlingRateInMsg: number;
  readonly publishThrottlingRateInByte: number;
}

export function limitOfPublishRate(value: PublishRateValue): RateLimit {
  return limitOf(value.publishThrottlingRateInMsg, value.publishThrottlingRateInByte);
}

export function publishRateOf({ messages = -1, bytes = -1 }: RateLimit): PublishRateValue {
  return { publishThrottlingRateInMsg: messages, publishThrottlingRateInByte: bytes };
}

export function limitOfGroup(group: ResourceGroup): RateLimit {
  return limitOf(group.publishRateInMsgs, group.publishRateInBytes);
}

/** A group without dispatch rates. */
export function groupOf({ messages = -1, bytes = -1 }: RateLimit): ResourceGroup {
  return {
    publishRateInMsgs: messages,
    publishRateInBytes: bytes,
    dispatchRateInMsgs: -1,
    dispatchRateInBytes: -1,
  };
}

export function limitOfStored({ messages = -1, bytes = -1 }: StoredRate): RateLimit {
  return limitOf(messages, bytes);
}

/** Pulsar takes 0 and any negative rate as none. */
function limitOf(messages: number, bytes: number): RateLimit {
  if (messages <= 0 && bytes <= 0) return UNLIMITED;
  return { ...(messages > 0 && { messages }), ...(bytes > 0 && { bytes }) };
}

/** Whether nothing changes. Of the broker and of groups, no limit and `UNLIMITED` are the same. */
export function isSameLimit(
  { level }: LimitTarget,
  a: RateLimit | undefined,
  b: RateLimit | undefined,
): boolean {
  const hasNoOther = level === "broker" || level === "group";
  if (!hasNoOther && (a === undefined || b === undefined)) return a === b;
  return a?.messages === b?.messages && a?.bytes === b?.bytes;
}
