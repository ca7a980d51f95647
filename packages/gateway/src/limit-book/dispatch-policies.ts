import { ConfigError } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { dispatchRateOf, subscribeRateOf } from "../ingress/dispatch/pulsar-dispatch-rate.ts";
import type {
  PulsarDispatchRate,
  PulsarSubscribeRate,
} from "../ingress/dispatch/pulsar-dispatch-rate.ts";
import type { DispatchRate, DispatchTarget } from "../ingress/dispatch/dispatch-rate.ts";
import type { SubscribeRate, SubscribeTarget } from "../ingress/dispatch/subscribe-rates.ts";
import type { NamespaceRecord, PolicyValues } from "../policy/namespace-record.ts";

/** Policies of a topic or a namespace, by Pulsar's REST names. */
export const DISPATCH_RATE = "dispatchRate";
export const SUBSCRIPTION_DISPATCH_RATE = "subscriptionDispatchRate";
export const SUBSCRIBE_RATE = "subscribeRate";
/** Policy of a topic: rates by subscription. */
export const SUBSCRIPTION_DISPATCH_RATES = "subscriptionDispatchRates";

/** A rate that a policy sets. */
export interface RateOf<Target, Rate> {
  readonly target: Target;
  readonly rate: Rate;
}

export function dispatchRatesOf(
  namespace: string,
  { policies, topics }: NamespaceRecord,
): readonly RateOf<DispatchTarget, DispatchRate>[] {
  const found: RateOf<DispatchTarget, DispatchRate>[] = [];
  const add = (target: DispatchTarget, value: unknown): void => {
    if (value !== undefined)
      found.push({ target, rate: dispatchRateOf(value as PulsarDispatchRate) });
  };
  add({ level: "namespace", name: namespace }, policies[DISPATCH_RATE]);
  add({ level: "namespace-subscriptions", name: namespace }, policies[SUBSCRIPTION_DISPATCH_RATE]);
  for (const [topic, { policies: own }] of Object.entries(topics)) {
    add({ level: "topic", name: topic }, own[DISPATCH_RATE]);
    add({ level: "topic-subscriptions", name: topic }, own[SUBSCRIPTION_DISPATCH_RATE]);
    const bySubscription = ratesBySubscription(own[SUBSCRIPTION_DISPATCH_RATES]);
    for (const [name, value] of Object.entries(bySubscription))
      add({ level: "subscription", topic, name }, value);
  }
  return found;
}

export function subscribeRatesOf(
  namespace: string,
  { policies, topics }: NamespaceRecord,
): readonly RateOf<SubscribeTarget, SubscribeRate>[] {
  const found: RateOf<SubscribeTarget, SubscribeRate>[] = [];
  const add = (target: SubscribeTarget, own: PolicyValues): void => {
    const value = own[SUBSCRIBE_RATE];
    if (value !== undefined)
      found.push({ target, rate: subscribeRateOf(value as PulsarSubscribeRate) });
  };
  add({ level: "namespace", name: namespace }, policies);
  for (const [name, topic] of Object.entries(topics)) add({ level: "topic", name }, topic.policies);
  return found;
}

/** The value of `SUBSCRIPTION_DISPATCH_RATES`. */
export function ratesBySubscription(value: unknown): Readonly<Record<string, PulsarDispatchRate>> {
  return (value ?? {}) as Readonly<Record<string, PulsarDispatchRate>>;
}

/** @throws ConfigError for a period that Pulsar's policies cannot have: they count whole seconds. */
export function requireWholeSeconds(what: string, periodMs: number = SECOND_MS): void {
  if (periodMs % SECOND_MS === 0) return;
  throw new ConfigError(`the ${what} has a period of ${periodMs} ms; use whole seconds`);
}
