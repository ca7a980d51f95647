import { DispatchDesk } from "./dispatch-desk.ts";
import type { DispatchCounts } from "./dispatch-counts.ts";
import type { Delivered, DispatchConsumer, DispatchFacts } from "./dispatch-consumer.ts";
import { DispatchLimits } from "./dispatch-limits.ts";
import type { DispatchLimitSettings } from "./dispatch-limits.ts";
import { SubscribeRates } from "./subscribe-rates.ts";
import type { SubscribeRateSettings } from "./subscribe-rates.ts";

export interface DispatchSettings {
  readonly dispatch?: DispatchLimitSettings | undefined;
  readonly subscribe?: SubscribeRateSettings | undefined;
}

export interface DispatchDependencies {
  /** `wakeAtMs` has become earlier. Must not call back at once. */
  readonly onWakeAt: () => void;
  readonly nowMs: number;
}

/**
 * Limits of deliveries and of SUBSCRIBE for all connections of one process. Its driver must call
 * `release` at `wakeAtMs`, and again as long as it says that more is due.
 */
export class Dispatch {
  readonly limits: DispatchLimits;
  readonly subscribeRates: SubscribeRates;
  readonly #desk: DispatchDesk;

  constructor(settings: DispatchSettings, { onWakeAt, nowMs }: DispatchDependencies) {
    this.limits = new DispatchLimits(settings.dispatch, nowMs);
    this.subscribeRates = new SubscribeRates(settings.subscribe, nowMs);
    this.#desk = new DispatchDesk({ limits: this.limits, onWakeAt });
  }

  /** When `release` is next needed; Infinity if nothing waits. */
  get wakeAtMs(): number {
    return this.#desk.wakeAtMs;
  }

  /** How often consumers of a subscription had to wait, by the limit. */
  countsOf(topic: string, subscription: string): Readonly<DispatchCounts> {
    return this.#desk.countsOf(topic, subscription);
  }

  open(facts: DispatchFacts): DispatchConsumer {
    return this.#desk.open(facts);
  }

  onFlow(consumer: DispatchConsumer, permits: number, nowMs: number): void {
    pass(consumer, this.#desk.onFlow(consumer, permits, nowMs));
  }

  onDelivered(consumer: DispatchConsumer, delivered: Delivered, nowMs: number): void {
    pass(consumer, this.#desk.onDelivered(consumer, delivered, nowMs));
  }

  onClosed(consumer: DispatchConsumer, nowMs: number): void {
    this.#desk.onClosed(consumer, nowMs);
  }

  /** Passes on permits whose turn has come, in about `max` steps. Answers whether more are due now. */
  release(nowMs: number, max: number): boolean {
    const { grants, isMore } = this.#desk.release(nowMs, max);
    for (const { consumer, permits } of grants) pass(consumer, permits);
    return isMore;
  }
}

/** A consumer may be closed by what happened to another before. */
function pass(consumer: DispatchConsumer, permits: number): void {
  if (permits > 0 && !consumer.isClosed) consumer.pass(permits);
}
