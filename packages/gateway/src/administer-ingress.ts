import type { Clock, Timer } from "@sluice/core";
import type { Throttling } from "./admin/administered-broker.ts";
import { ingressThrottling } from "./admin/limits/ingress-throttling.ts";
import type { Dispatch } from "./ingress/dispatch/dispatch.ts";
import type { Ingress } from "./ingress/ingress.ts";
import type { PublishLimitSettings } from "./ingress/limits/limit-settings.ts";
import { createDispatchBook } from "./limit-book/dispatch-book.ts";
import type { DispatchBook } from "./limit-book/dispatch-book.ts";
import { LimitBook } from "./limit-book/limit-book.ts";
import { createSubscribeBook } from "./limit-book/subscribe-book.ts";
import type { SubscribeBook } from "./limit-book/subscribe-book.ts";
import type { ByteBudget } from "./memory/byte-budget.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import { DecisionLoop } from "./observe/decision-loop.ts";
import type { PolicyBook } from "./policy/policy-book.ts";

interface IngressWorld {
  readonly timer: Timer;
  readonly clock: Clock;
  readonly memory: ByteBudget;
  readonly observe: BrokerObserver;
}

export interface AdministeredIngress {
  readonly limitBook: LimitBook;
  readonly dispatchBook: DispatchBook;
  readonly subscribeBook: SubscribeBook;
  readonly throttling: Throttling;
  /** To be poked by `onDecision` of the ingress, and closed with its server. */
  readonly decisions: DecisionLoop;
}

/** What an administration needs of the limits, whatever stands behind them. `given` are those of the start. */
export function administerIngress<Item>(
  { ingress, dispatch }: { readonly ingress: Ingress<Item>; readonly dispatch: Dispatch },
  given: PublishLimitSettings,
  policies: PolicyBook,
  { timer, clock, memory, observe }: IngressWorld,
): AdministeredIngress {
  const throttling = ingressThrottling(ingress, clock, memory);
  return {
    limitBook: new LimitBook({ limits: ingress.limits, given, policies, clock, observe }),
    dispatchBook: createDispatchBook(dispatch.limits, { policies, clock, observe }),
    subscribeBook: createSubscribeBook(dispatch.subscribeRates, { policies, clock, observe }),
    throttling,
    decisions: new DecisionLoop({ timer, snapshot: () => throttling.waiting(), observe }),
  };
}
