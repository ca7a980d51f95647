import { ConfigError } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { configuredTopic, limitedTopic } from "../limits/limited-topic.ts";
import type { LimitedTopic } from "../limits/topic-limits.ts";
import { subscriptionKey } from "./dispatch-consumer.ts";
import type { DispatchConsumer } from "./dispatch-consumer.ts";
import { DispatchLevel } from "./dispatch-level.ts";
import { describeDispatchTarget, isLimiting, requireDispatchRate } from "./dispatch-rate.ts";
import type { DispatchRate, DispatchTarget } from "./dispatch-rate.ts";

type Rates = Readonly<Record<string, DispatchRate>>;

/** The dispatch limits to start with. */
export interface DispatchLimitSettings {
  /** Of all deliveries together. Default: not limited. */
  readonly broker?: DispatchRate | undefined;
  /** Of each topic that has no other; its subscriptions share it. Default: not limited. */
  readonly topicDefault?: DispatchRate | undefined;
  /** Of each subscription that has no other. Default: not limited. */
  readonly subscriptionDefault?: DispatchRate | undefined;
  /** Of each topic of a namespace, by "tenant/namespace". Default: none. */
  readonly namespaces?: Rates | undefined;
  /** Of each subscription of each topic of a namespace. Default: none. */
  readonly namespaceSubscriptions?: Rates | undefined;
  /** Of one topic, by its name; its subscriptions and partitions share it. Default: none. */
  readonly topics?: Rates | undefined;
  /** Of each subscription of a topic. Default: none. */
  readonly topicSubscriptions?: Rates | undefined;
  /** By topic and subscription. Default: none. */
  readonly subscriptions?: Readonly<Record<string, Rates>> | undefined;
}

export interface SetDispatchRate {
  readonly target: DispatchTarget;
  readonly rate: DispatchRate;
}

/** A level, and the topic or subscription that it limits. */
interface KeptLevel {
  readonly level: DispatchLevel;
  readonly topic: LimitedTopic;
  /** Undefined: of the whole topic. */
  readonly subscription: string | undefined;
}

const KEYS: ReadonlySet<string> = new Set([
  "broker",
  "topicDefault",
  "subscriptionDefault",
  "namespaces",
  "namespaceSubscriptions",
  "topics",
  "topicSubscriptions",
  "subscriptions",
]);
const NAMESPACE = /^[^/]+\/[^/]+$/;

/** Rates that are set. One takes some hundred bytes. */
export const DISPATCH_RATES_MAX = 100_000;

/** Levels are looked through for unused ones when their number has doubled, and not below this. */
const SWEEP_MIN = 1_024;

/**
 * All limits of deliveries: of subscriptions, topics and the broker. A message counts at each level that
 * its consumer has. Partitions share the limits of their topic. Topics that Pulsar keeps for itself have
 * only the limits that were set for them by name.
 */
export class DispatchLimits {
  readonly #broker = new DispatchLevel("broker");
  /** What was set, by `targetKey`. */
  readonly #set = new Map<string, SetDispatchRate>();
  readonly #levels = new Map<string, KeptLevel>();
  #sweepAt: number = SWEEP_MIN;
  #version = 0;
  readonly #listeners = new Set<(nowMs: number) => void>();

  constructor(settings: DispatchLimitSettings = {}, nowMs: number = 0) {
    requireKnownKeys("limits.dispatch", settings, KEYS);
    const { broker, topicDefault, subscriptionDefault, subscriptions = {} } = settings;
    const add = (target: DispatchTarget, rate: DispatchRate | undefined): void => {
      if (rate !== undefined) this.set(target, rate, nowMs);
    };
    const addAll = (
      level: "namespace" | "namespace-subscriptions" | "topic" | "topic-subscriptions",
      rates: Rates = {},
    ): void => {
      for (const [name, rate] of Object.entries(rates)) add({ level, name }, rate);
    };
    add({ level: "broker" }, broker);
    add({ level: "default" }, topicDefault);
    add({ level: "subscription-default" }, subscriptionDefault);
    addAll("namespace", settings.namespaces);
    addAll("namespace-subscriptions", settings.namespaceSubscriptions);
    addAll("topic", settings.topics);
    addAll("topic-subscriptions", settings.topicSubscriptions);
    for (const [topic, rates] of Object.entries(subscriptions))
      for (const [name, rate] of Object.entries(rates))
        add({ level: "subscription", topic, name }, rate);
  }

  /** Whether there is any rate. */
  get isSet(): boolean {
    return this.#set.size > 0;
  }

  /** Changes whenever a consumer may have other levels. */
  get version(): number {
    return this.#version;
  }

  /** From now on. Balances stay, debts included, and consumers that wait are looked at again at once. */
  set(target: DispatchTarget, given: DispatchRate, nowMs: number): void {
    const rate = requireDispatchRate(
      `the dispatch rate of ${describeDispatchTarget(target)}`,
      given,
    );
    const key = targetKey(target);
    if (!this.#set.has(key) && this.#set.size >= DISPATCH_RATES_MAX)
      throw new ConfigError(
        `${DISPATCH_RATES_MAX} dispatch rates are set, the maximum; remove one, or set one for a namespace`,
      );
    this.#set.set(key, { target, rate });
    this.#changed(nowMs);
  }

  /** Removes a rate: the next level's counts. */
  unset(target: DispatchTarget, nowMs: number): void {
    if (this.#set.delete(targetKey(target))) this.#changed(nowMs);
  }

  /** The rate that was set for exactly this; undefined if none was. */
  get(target: DispatchTarget): DispatchRate | undefined {
    return this.#set.get(targetKey(target))?.rate;
  }

  /** The rate that holds for a topic, or for a subscription of it; undefined if none does. */
  applied(topic: string, subscription?: string): DispatchRate | undefined {
    return this.#rateOf(limitedTopic(topic), subscription);
  }

  list(): readonly SetDispatchRate[] {
    return [...this.#set.values()];
  }

  /** Calls the listener after every change; answers how to stop that. */
  onChange(listener: (nowMs: number) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Subscription, topic, broker; only those that have a limit. */
  levelsOf(
    { topic, subscription }: Pick<DispatchConsumer, "topic" | "subscription">,
    nowMs: number,
  ): readonly DispatchLevel[] {
    if (this.#set.size === 0) return NONE;
    const levels: DispatchLevel[] = [];
    const own = this.#rateOf(topic, subscription);
    if (own !== undefined && isLimiting(own))
      levels.push(this.#level(topic, subscription, own, nowMs));
    const shared = this.#rateOf(topic, undefined);
    if (shared !== undefined && isLimiting(shared))
      levels.push(this.#level(topic, undefined, shared, nowMs));
    if (this.#broker.isLimited && !topic.isSystem) levels.push(this.#broker);
    return levels;
  }

  #rateOf(topic: LimitedTopic, subscription: string | undefined): DispatchRate | undefined {
    const rate = (key: string): DispatchRate | undefined => this.#set.get(key)?.rate;
    const { key: name, namespace, isSystem } = topic;
    if (subscription === undefined) {
      const own = rate(`topic ${name}`);
      if (own !== undefined || isSystem) return own;
      return rate(`namespace ${namespace}`) ?? rate("default");
    }
    const own = rate(`subscription ${name} ${subscription}`) ?? rate(`topic-subscriptions ${name}`);
    if (own !== undefined || isSystem) return own;
    return rate(`namespace-subscriptions ${namespace}`) ?? rate("subscription-default");
  }

  #level(
    topic: LimitedTopic,
    subscription: string | undefined,
    rate: DispatchRate,
    nowMs: number,
  ): DispatchLevel {
    const key = subscription === undefined ? topic.key : subscriptionKey(topic.key, subscription);
    const kept = this.#levels.get(key);
    if (kept !== undefined) return kept.level;
    if (this.#levels.size >= this.#sweepAt) this.#sweep(nowMs);
    const level = new DispatchLevel(subscription === undefined ? "topic" : "subscription");
    level.setRate(rate, nowMs);
    this.#levels.set(key, { level, topic, subscription });
    return level;
  }

  /** A level without consumers whose bucket is full can be made anew. */
  #sweep(nowMs: number): void {
    for (const [key, { level }] of this.#levels) if (level.isFresh(nowMs)) this.#levels.delete(key);
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * this.#levels.size);
  }

  #changed(nowMs: number): void {
    const broker = this.get({ level: "broker" }) ?? NO_RATE;
    if (broker !== this.#broker.rate) this.#broker.setRate(broker, nowMs);
    for (const [key, { level, topic, subscription }] of this.#levels) {
      const rate = this.#rateOf(topic, subscription) ?? NO_RATE;
      if (rate !== level.rate) level.setRate(rate, nowMs);
      if (!isLimiting(rate)) this.#levels.delete(key);
    }
    this.#version++;
    for (const listener of this.#listeners) listener(nowMs);
  }
}

const NONE: readonly DispatchLevel[] = [];
const NO_RATE: DispatchRate = {};

/** One text for all forms of a topic's name. Throws a `ConfigError` if a name is wrong. */
function targetKey(target: DispatchTarget): string {
  switch (target.level) {
    case "broker":
    case "default":
    case "subscription-default":
      return target.level;
    case "namespace":
    case "namespace-subscriptions":
      if (!NAMESPACE.test(target.name))
        throw new ConfigError(
          `namespace is "${target.name}"; write "tenant/namespace", such as "public/default"`,
        );
      return `${target.level} ${target.name}`;
    case "topic":
    case "topic-subscriptions":
      return `${target.level} ${configuredTopic(target.name)}`;
    case "subscription":
      return `subscription ${configuredTopic(target.topic)} ${target.name}`;
  }
}
