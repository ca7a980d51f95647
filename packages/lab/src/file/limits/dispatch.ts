import { DURATION_MAX_MS } from "@sluice/core/internal";
import * as v from "valibot";
import { lineOfText, map, real, record, whole } from "../fields.ts";
import { byNamespace, byTopic } from "./names.ts";
import type { LimitNames } from "./names.ts";
import { rateBlock } from "./rate.ts";
import type { RateBlock } from "./rate.ts";

type Rates = Readonly<Record<string, RateBlock>>;

/** `limits.dispatch`: how much may be delivered. A message counts at its subscription, its topic and the broker. */
export interface DispatchBlock {
  readonly broker?: RateBlock | undefined;
  /** Of each topic that has no other; its subscriptions share it. */
  readonly topicDefault?: RateBlock | undefined;
  /** Of each subscription that has no other. */
  readonly subscriptionDefault?: RateBlock | undefined;
  readonly namespaces?: Rates | undefined;
  /** Of each subscription of the topics of a namespace. */
  readonly namespaceSubscriptions?: Rates | undefined;
  readonly topics?: Rates | undefined;
  /** Of each subscription of a topic. */
  readonly topicSubscriptions?: Rates | undefined;
  /** By topic and subscription. */
  readonly subscriptions?: Readonly<Record<string, Rates>> | undefined;
}

/** How often one consumer may subscribe. */
interface SubscribeRateBlock {
  readonly subscribes: number;
  /** 30,000 unless given. */
  readonly periodMs?: number | undefined;
}

/** `limits.subscribe`: how often one consumer may subscribe to a topic. */
export interface SubscribeBlock {
  readonly default?: SubscribeRateBlock | undefined;
  readonly namespaces?: Readonly<Record<string, SubscribeRateBlock>> | undefined;
  readonly topics?: Readonly<Record<string, SubscribeRateBlock>> | undefined;
}

export function dispatchLimits(names: LimitNames): v.GenericSchema<unknown, DispatchBlock> {
  const rate = rateBlock();
  const bySubscription = record(lineOfText(), rate, "subscriptions and their limits");
  return map({
    broker: v.optional(rate),
    topicDefault: v.optional(rate),
    subscriptionDefault: v.optional(rate),
    namespaces: v.optional(byNamespace(rate, "limits")),
    namespaceSubscriptions: v.optional(byNamespace(rate, "limits of each subscription")),
    topics: v.optional(byTopic(names, rate, "limits")),
    topicSubscriptions: v.optional(byTopic(names, rate, "limits of each subscription")),
    subscriptions: v.optional(byTopic(names, bySubscription, "subscriptions")),
  });
}

export function subscribeRates(names: LimitNames): v.GenericSchema<unknown, SubscribeBlock> {
  const rate = map({
    subscribes: whole(1),
    periodMs: v.optional(real(1, DURATION_MAX_MS)),
  });
  return map({
    default: v.optional(rate),
    namespaces: v.optional(byNamespace(rate, "rates")),
    topics: v.optional(byTopic(names, rate, "rates")),
  });
}
