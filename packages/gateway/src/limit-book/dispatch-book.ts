import type { Clock } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { DispatchLimits, DISPATCH_RATES_MAX } from "../ingress/dispatch/dispatch-limits.ts";
import { describeDispatchTarget } from "../ingress/dispatch/dispatch-rate.ts";
import type { DispatchRate, DispatchTarget } from "../ingress/dispatch/dispatch-rate.ts";
import { pulsarDispatchRateOf } from "../ingress/dispatch/pulsar-dispatch-rate.ts";
import { configuredTopic } from "../ingress/limits/limited-topic.ts";
import { parseTopicName } from "../name/topic-name.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import { withSetAt } from "../policy/limits-record.ts";
import type { PolicyBook, PolicyPlace } from "../policy/policy-book.ts";
import {
  DISPATCH_RATE,
  dispatchRatesOf,
  ratesBySubscription,
  requireWholeSeconds,
  SUBSCRIPTION_DISPATCH_RATE,
  SUBSCRIPTION_DISPATCH_RATES,
} from "./dispatch-policies.ts";
import { RateBook } from "./rate-book.ts";
import type { ListedRate, RateSort } from "./rate-book.ts";

/** All limits of deliveries, and from where each comes. */
export type DispatchBook = RateBook<DispatchTarget, DispatchRate>;
export type ListedDispatchLimit = ListedRate<DispatchTarget, DispatchRate>;

export interface RateBookWorld {
  readonly policies: PolicyBook;
  readonly clock: Clock;
  readonly observe: BrokerObserver;
}

/** Levels that belong to no topic and no namespace. */
type OwnLevel = "broker" | "default" | "subscription-default";
const OWN_LEVELS: readonly OwnLevel[] = ["broker", "default", "subscription-default"];

const BY = "the admin API";

export function createDispatchBook(limits: DispatchLimits, world: RateBookWorld): DispatchBook {
  return new RateBook(dispatchSort(limits, world.policies), {
    ...world,
    onChanged: ({ target, from, to }) =>
      world.observe({
        kind: "limit-changed",
        target: `dispatch of ${describeDispatchTarget(target)}`,
        from: from && perSecond(from),
        to: to && perSecond(to),
        by: BY,
      }),
  });
}

function dispatchSort(
  limits: DispatchLimits,
  policies: PolicyBook,
): RateSort<DispatchTarget, DispatchRate> {
  return {
    what: "dispatch rate",
    rates: limits,
    keyOf: dispatchKey,
    describe: describeDispatchTarget,
    // A throwaway bucket refuses what the real one would.
    require: (target, rate) => new DispatchLimits().set(target, rate, 0),
    ratesMax: DISPATCH_RATES_MAX,
    ofNamespace: dispatchRatesOf,
    ofLimits: ({ dispatch = {} }) =>
      OWN_LEVELS.flatMap((level) => {
        const rate = Object.hasOwn(dispatch, level) ? dispatch[level] : undefined;
        return rate === undefined ? [] : [{ target: { level }, rate }];
      }),
    store: (target, rate) => store(policies, target, rate),
    isPolicy: (target) => placeOf(target) !== undefined,
    setAtMs: (target) => {
      const place = placeOf(target);
      if (place === undefined) return policies.limits.setAt?.[`dispatch ${target.level}`];
      return policies.policiesAt(place).setAt?.[policyOf(target)];
    },
  };
}

async function store(
  policies: PolicyBook,
  target: DispatchTarget,
  rate: DispatchRate | undefined,
): Promise<void> {
  const place = placeOf(target);
  if (place === undefined) {
    const { level } = target;
    return policies.changeLimits((all, atMs) => {
      const { [level]: _, ...others } = all.dispatch ?? {};
      const dispatch = rate === undefined ? others : { ...others, [level]: rate };
      return withSetAt({ ...all, dispatch }, `dispatch ${level}`, rate && atMs);
    });
  }
  requireWholeSeconds(`dispatch rate of ${describeDispatchTarget(target)}`, rate?.periodMs);
  const value = rate && pulsarDispatchRateOf(rate);
  if (target.level !== "subscription") return policies.setPolicy(place, policyOf(target), value);
  return policies.changePolicy(place, SUBSCRIPTION_DISPATCH_RATES, (former) => {
    const others = Object.entries(ratesBySubscription(former)).filter(
      ([name]) => name !== target.name,
    );
    const rates = value === undefined ? others : [...others, [target.name, value] as const];
    return rates.length === 0 ? undefined : Object.fromEntries(rates);
  });
}

/** The place of the policy that holds a rate; undefined if no topic and no namespace has it. */
function placeOf(target: DispatchTarget): PolicyPlace | undefined {
  switch (target.level) {
    case "namespace":
    case "namespace-subscriptions":
      return { namespace: target.name };
    case "topic":
    case "topic-subscriptions":
      return topicPlace(target.name);
    case "subscription":
      return topicPlace(target.topic);
    case "broker":
    case "default":
    case "subscription-default":
      return undefined;
  }
}

function topicPlace(name: string): PolicyPlace {
  const { namespace, full, partition } = parseTopicName(name);
  return { namespace, topic: partition?.of ?? full };
}

function policyOf({ level }: DispatchTarget): string {
  if (level === "subscription") return SUBSCRIPTION_DISPATCH_RATES;
  return level === "topic" || level === "namespace" ? DISPATCH_RATE : SUBSCRIPTION_DISPATCH_RATE;
}

/** As an operator reads it. */
function perSecond({ messages, bytes, periodMs = SECOND_MS }: DispatchRate): {
  readonly messages?: number;
  readonly bytes?: number;
} {
  const rate = (amount: number): number => Math.max(1, Math.round((amount * SECOND_MS) / periodMs));
  return {
    ...(messages !== undefined && { messages: rate(messages) }),
    ...(bytes !== undefined && { bytes: rate(bytes) }),
  };
}

function dispatchKey(target: DispatchTarget): string {
  if (target.level === "subscription")
    return `subscription ${configuredTopic(target.topic)} ${target.name}`;
  if (target.level === "topic" || target.level === "topic-subscriptions")
    return `${target.level} ${configuredTopic(target.name)}`;
  return "name" in target ? `${target.level} ${target.name}` : target.level;
}
