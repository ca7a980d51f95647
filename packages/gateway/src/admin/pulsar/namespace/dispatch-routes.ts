import {
  pulsarDispatchRateOf,
  pulsarSubscribeRateOf,
} from "../../../ingress/dispatch/pulsar-dispatch-rate.ts";
import type { DispatchRate } from "../../../ingress/dispatch/dispatch-rate.ts";
import {
  DISPATCH_RATE,
  ratesBySubscription,
  SUBSCRIBE_RATE,
  SUBSCRIPTION_DISPATCH_RATE,
  SUBSCRIPTION_DISPATCH_RATES,
} from "../../../limit-book/dispatch-policies.ts";
import { DONE, json, UNSET } from "../../http/answer.ts";
import type { Answer } from "../../http/answer.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import { requireClientName } from "../../../name/topic-name.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { dispatchRateFrom, subscribeRateFrom } from "./rate-body.ts";
import type { PolicyLevel } from "./policy-level.ts";
import { valueRoutes } from "./value-routes.ts";

/** What Pulsar answers where no rate holds. */
const NO_DISPATCH_RATE = {
  dispatchThrottlingRateInMsg: 0,
  dispatchThrottlingRateInByte: 0,
  relativeToPublishRate: false,
  ratePeriodInSecond: 1,
};
const NO_SUBSCRIBE_RATE = { subscribeThrottlingRatePerConsumer: 0, ratePeriodInSecond: 30 };

/** Rates of deliveries and of SUBSCRIBE, of a topic or a namespace; of a topic also for one subscription. */
export function dispatchRoutes(admin: BrokerAdmin, level: PolicyLevel): readonly Route[] {
  const { limits, subscribeRates } = admin.dispatch;
  return [
    ...valueRoutes(admin, level, {
      name: DISPATCH_RATE,
      valueOf: dispatchRateFrom,
      byDefault: NO_DISPATCH_RATE,
      appliedAt: ({ topic }) => topic && bodyOf(limits.applied(topic)),
    }),
    ...valueRoutes(admin, level, {
      name: SUBSCRIPTION_DISPATCH_RATE,
      valueOf: dispatchRateFrom,
      byDefault: NO_DISPATCH_RATE,
      // An empty name is that of no subscription, so that only rates of all of them are found.
      appliedAt: ({ topic }) => topic && bodyOf(limits.applied(topic, "")),
    }),
    ...valueRoutes(admin, level, {
      name: SUBSCRIBE_RATE,
      valueOf: subscribeRateFrom,
      byDefault: NO_SUBSCRIBE_RATE,
      appliedAt: ({ topic }) => {
        const rate = topic === undefined ? undefined : subscribeRates.applied(topic);
        return rate && pulsarSubscribeRateOf(rate);
      },
    }),
    ...(level.kind === "topic" ? ofOneSubscription(admin, level) : []),
  ];
}

/** Pulsar keeps the rate of one subscription as a policy of its topic, whether the subscription exists or not. */
function ofOneSubscription(
  { policies, dispatch }: BrokerAdmin,
  { path: topicPath, placeOf }: PolicyLevel,
): readonly Route[] {
  const path = `${topicPath}/{subscription}/${DISPATCH_RATE}`;
  const set = async (request: AdminRequest, value: object | undefined): Promise<Answer> => {
    const place = placeOf(request);
    const name = subscriptionOf(request);
    await policies.changePolicy(place, SUBSCRIPTION_DISPATCH_RATES, (former) => {
      const others = Object.entries(ratesBySubscription(former)).filter(([key]) => key !== name);
      const rates = value === undefined ? others : [...others, [name, value] as const];
      return rates.length === 0 ? undefined : Object.fromEntries(rates);
    });
    return DONE;
  };
  return [
    {
      method: "GET",
      path,
      handle: (request) => {
        const place = placeOf(request);
        const name = subscriptionOf(request);
        const rates = ratesBySubscription(
          policies.policiesAt(place).policies[SUBSCRIPTION_DISPATCH_RATES],
        );
        const own = Object.hasOwn(rates, name) ? rates[name] : undefined;
        if (own !== undefined) return json(own);
        if (!request.flag("applied")) return UNSET;
        const applied = dispatch.limits.applied(place.topic ?? "", name);
        return json(bodyOf(applied) ?? NO_DISPATCH_RATE);
      },
    },
    {
      method: "POST",
      path,
      handle: (request) => {
        const value = dispatchRateFrom(request);
        return value === undefined ? DONE : set(request, value);
      },
    },
    { method: "DELETE", path, handle: (request) => set(request, undefined) },
  ];
}

function subscriptionOf(request: AdminRequest): string {
  const name = request.param("subscription");
  requireClientName("NotAllowedError", "a subscription's name", name);
  return name;
}

function bodyOf(rate: DispatchRate | undefined): object | undefined {
  return rate && pulsarDispatchRateOf(rate);
}
