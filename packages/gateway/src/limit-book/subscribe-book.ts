import { pulsarSubscribeRateOf } from "../ingress/dispatch/pulsar-dispatch-rate.ts";
import { SUBSCRIBE_RATES_MAX, SubscribeRates } from "../ingress/dispatch/subscribe-rates.ts";
import type { SubscribeRate, SubscribeTarget } from "../ingress/dispatch/subscribe-rates.ts";
import { configuredTopic } from "../ingress/limits/limited-topic.ts";
import { parseTopicName } from "../name/topic-name.ts";
import { withSetAt } from "../policy/limits-record.ts";
import type { PolicyBook, PolicyPlace } from "../policy/policy-book.ts";
import type { RateBookWorld } from "./dispatch-book.ts";
import { requireWholeSeconds, SUBSCRIBE_RATE, subscribeRatesOf } from "./dispatch-policies.ts";
import { RateBook } from "./rate-book.ts";
import type { ListedRate, RateSort } from "./rate-book.ts";

/** All limits of SUBSCRIBE, and from where each comes. */
export type SubscribeBook = RateBook<SubscribeTarget, SubscribeRate>;
export type ListedSubscribeRate = ListedRate<SubscribeTarget, SubscribeRate>;

const SET_AT = "subscribe default";

export function createSubscribeBook(rates: SubscribeRates, world: RateBookWorld): SubscribeBook {
  // A change is not told as an event: its kind has messages and bytes only.
  return new RateBook(subscribeSort(rates, world.policies), { ...world, onChanged: () => {} });
}

function subscribeSort(
  rates: SubscribeRates,
  policies: PolicyBook,
): RateSort<SubscribeTarget, SubscribeRate> {
  return {
    what: "subscribe rate",
    rates,
    keyOf: subscribeKey,
    describe: describeSubscribeTarget,
    // A throwaway bucket refuses what the real one would.
    require: (target, rate) => new SubscribeRates().set(target, rate, 0),
    ratesMax: SUBSCRIBE_RATES_MAX,
    ofNamespace: subscribeRatesOf,
    ofLimits: ({ subscribeDefault: rate }) =>
      rate === undefined ? [] : [{ target: { level: "default" }, rate }],
    store: async (target, rate) => {
      const place = placeOf(target);
      if (place === undefined)
        return policies.changeLimits((all, atMs) =>
          withSetAt({ ...all, subscribeDefault: rate }, SET_AT, rate && atMs),
        );
      requireWholeSeconds(`subscribe rate of ${describeSubscribeTarget(target)}`, rate?.periodMs);
      const value = rate && pulsarSubscribeRateOf(rate);
      return policies.setPolicy(place, SUBSCRIBE_RATE, value);
    },
    isPolicy: ({ level }) => level !== "default",
    setAtMs: (target) => {
      const place = placeOf(target);
      if (place === undefined) return policies.limits.setAt?.[SET_AT];
      return policies.policiesAt(place).setAt?.[SUBSCRIBE_RATE];
    },
  };
}

/** Such as "topic public/default/orders". */
export function describeSubscribeTarget(target: SubscribeTarget): string {
  return "name" in target ? `${target.level} ${target.name}` : `the ${target.level}`;
}

function placeOf(target: SubscribeTarget): PolicyPlace | undefined {
  if (target.level === "default") return undefined;
  if (target.level === "namespace") return { namespace: target.name };
  const { namespace, full, partition } = parseTopicName(target.name);
  return { namespace, topic: partition?.of ?? full };
}

function subscribeKey(target: SubscribeTarget): string {
  if (target.level === "topic") return `topic ${configuredTopic(target.name)}`;
  return "name" in target ? `${target.level} ${target.name}` : target.level;
}
