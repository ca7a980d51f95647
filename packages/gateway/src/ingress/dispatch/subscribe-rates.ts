import { ConfigError, KeyedBuckets } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole, SECOND_MS } from "@sluice/core/internal";
import { configuredTopic, limitedTopic } from "../limits/limited-topic.ts";

/** How often one consumer may subscribe to a topic. Without `subscribes` there is no limit. */
export interface SubscribeRate {
  readonly subscribes?: number | undefined;
  /** 30,000 unless given, as in Pulsar. */
  readonly periodMs?: number | undefined;
}

/** `topic` > `namespace` > `default`. */
export type SubscribeTarget =
  | { readonly level: "default" }
  | { readonly level: "namespace"; readonly name: string }
  | { readonly level: "topic"; readonly name: string };

export interface SubscribeRateSettings {
  /** Of each consumer and topic that has no other. Default: not limited. */
  readonly default?: SubscribeRate | undefined;
  /** Of topics of a namespace, by "tenant/namespace". Default: none. */
  readonly namespaces?: Readonly<Record<string, SubscribeRate>> | undefined;
  /** Of one topic, by its name. Default: none. */
  readonly topics?: Readonly<Record<string, SubscribeRate>> | undefined;
}

/** Who subscribes: Pulsar's identity of a consumer. */
export interface Subscriber {
  /** Any form of the name. */
  readonly topic: string;
  readonly host: string;
  readonly consumerName: string;
  readonly consumerId: bigint;
}

interface KeptRate {
  readonly target: SubscribeTarget;
  readonly rate: SubscribeRate;
  readonly buckets: KeyedBuckets | undefined;
}

const KEYS: ReadonlySet<string> = new Set(["default", "namespaces", "topics"]);
const RATE_KEYS: ReadonlySet<string> = new Set(["subscribes", "periodMs"]);
const PERIOD_MS = 30_000;
const NAMESPACE = /^[^/]+\/[^/]+$/;

/** Rates that are set, and consumers that are remembered of each; others share one bucket. */
export const SUBSCRIBE_RATES_MAX = 10_000;
const CONSUMERS_MAX = 10_000;

/**
 * Limits how often a consumer subscribes: clients that are closed at once would subscribe in a loop.
 * Readers inside the broker do not subscribe and are not limited.
 */
export class SubscribeRates {
  readonly #set = new Map<string, KeptRate>();

  constructor(settings: SubscribeRateSettings = {}, nowMs: number = 0) {
    requireKnownKeys("limits.subscribe", settings, KEYS);
    const { default: rate, namespaces = {}, topics = {} } = settings;
    if (rate !== undefined) this.set({ level: "default" }, rate, nowMs);
    for (const [name, of] of Object.entries(namespaces))
      this.set({ level: "namespace", name }, of, nowMs);
    for (const [name, of] of Object.entries(topics)) this.set({ level: "topic", name }, of, nowMs);
  }

  /** From now on; what consumers have used of another rate is forgotten. */
  set(target: SubscribeTarget, rate: SubscribeRate, nowMs: number): void {
    const key = targetKey(target);
    requireKnownKeys(`the subscribe rate of ${key}`, rate, RATE_KEYS);
    const { subscribes, periodMs = PERIOD_MS } = rate;
    if (subscribes !== undefined) requireWhole(`subscribes of ${key}`, subscribes, 1);
    requireDuration(`periodMs of ${key}`, periodMs, 1);
    if (!this.#set.has(key) && this.#set.size >= SUBSCRIBE_RATES_MAX)
      throw new ConfigError(
        `${SUBSCRIBE_RATES_MAX} subscribe rates are set, the maximum; remove one first`,
      );
    const buckets =
      subscribes === undefined
        ? undefined
        : new KeyedBuckets({
            rate: subscribes,
            periodMs,
            maxKeys: CONSUMERS_MAX,
            clock: { now: () => nowMs },
          });
    this.#set.set(key, { target, rate: { subscribes, periodMs }, buckets });
  }

  unset(target: SubscribeTarget): void {
    this.#set.delete(targetKey(target));
  }

  get(target: SubscribeTarget): SubscribeRate | undefined {
    return this.#set.get(targetKey(target))?.rate;
  }

  /** All that were set. */
  list(): readonly { readonly target: SubscribeTarget; readonly rate: SubscribeRate }[] {
    return [...this.#set.values()];
  }

  /** The rate that holds for a topic; undefined if none does. */
  applied(topic: string): SubscribeRate | undefined {
    return this.#of(topic)?.rate;
  }

  /** Why the consumer may not subscribe now, and how long to wait; undefined if it may. */
  refuses(subscriber: Subscriber, nowMs: number): string | undefined {
    if (this.#set.size === 0) return undefined;
    const { topic, host, consumerName, consumerId } = subscriber;
    const { rate, buckets } = this.#of(topic) ?? {};
    if (rate === undefined || buckets === undefined) return undefined;
    const key = `${limitedTopic(topic).key} ${host} ${consumerName} ${consumerId}`;
    if (buckets.tryAcquire(key, 1, nowMs)) return undefined;
    const { subscribes = 1, periodMs = PERIOD_MS } = rate;
    const seconds = Math.ceil(buckets.pauseMs(key, 1, nowMs) / 100) / 10;
    return `a consumer may subscribe to this topic ${subscribes} times in ${periodMs / SECOND_MS} s; try again in ${seconds} s`;
  }

  #of(topic: string): KeptRate | undefined {
    const { key, namespace, isSystem } = limitedTopic(topic);
    const own = this.#set.get(`topic ${key}`);
    if (own !== undefined || isSystem) return own;
    return this.#set.get(`namespace ${namespace}`) ?? this.#set.get("default");
  }
}

function targetKey(target: SubscribeTarget): string {
  switch (target.level) {
    case "default":
      return "default";
    case "namespace":
      if (!NAMESPACE.test(target.name))
        throw new ConfigError(
          `namespace is "${target.name.slice(0, 80)}"; write "tenant/namespace", such as "public/default"`,
        );
      return `namespace ${target.name}`;
    case "topic":
      return `topic ${configuredTopic(target.name)}`;
  }
}
