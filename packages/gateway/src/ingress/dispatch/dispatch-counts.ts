/** How often consumers of one subscription had to wait for a limit, by the limit. Pulsar's names for it. */
export interface DispatchCounts {
  dispatchThrottledMsgEventsBySubscriptionLimit: number;
  dispatchThrottledBytesEventsBySubscriptionLimit: number;
  dispatchThrottledMsgEventsByTopicLimit: number;
  dispatchThrottledBytesEventsByTopicLimit: number;
  dispatchThrottledMsgEventsByBrokerLimit: number;
  dispatchThrottledBytesEventsByBrokerLimit: number;
}

/** Subscriptions whose counts are remembered; the one that first had to wait longest ago is forgotten first. */
const COUNTED_MAX = 10_000;

/** The counts of all subscriptions that had to wait. */
export class DispatchCountBook {
  readonly #counts = new Map<string, DispatchCounts>();

  /** All zero if the subscription never had to wait. */
  of(key: string): Readonly<DispatchCounts> {
    return this.#counts.get(key) ?? NEVER;
  }

  count(key: string, kind: "subscription" | "topic" | "broker", dimension: "Msg" | "Bytes"): void {
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = { ...NEVER };
      this.#counts.set(key, counts);
      if (this.#counts.size > COUNTED_MAX)
        this.#counts.delete(this.#counts.keys().next().value ?? "");
    }
    counts[`dispatchThrottled${dimension}EventsBy${LIMITS[kind]}Limit`]++;
  }
}

const LIMITS = { subscription: "Subscription", topic: "Topic", broker: "Broker" } as const;

const NEVER: Readonly<DispatchCounts> = {
  dispatchThrottledMsgEventsBySubscriptionLimit: 0,
  dispatchThrottledBytesEventsBySubscriptionLimit: 0,
  dispatchThrottledMsgEventsByTopicLimit: 0,
  dispatchThrottledBytesEventsByTopicLimit: 0,
  dispatchThrottledMsgEventsByBrokerLimit: 0,
  dispatchThrottledBytesEventsByBrokerLimit: 0,
};
