import { LazyList, LazyRecord } from "../../http/json-steps.ts";
import type { DispatchCounts } from "../../../ingress/dispatch/dispatch-counts.ts";
import { formatWallTime } from "@sluice/core/system";
import type {
  ClientFacts,
  ConsumerStats,
  ProducerStats,
  SubscriptionStats,
  TopicStats,
} from "../../../topic/topic-stats.ts";

export interface StatsOptions {
  readonly excludePublishers: boolean;
  readonly excludeConsumers: boolean;
  /** SENDs that had to wait for a limit, of a topic by its full name without "-partition-N". */
  readonly limitedTimesOf: (topic: string) => number;
  /** How often a subscription had to wait for a dispatch limit; its partitions are counted together. */
  readonly dispatchCountsOf: (topic: string, subscription: string) => Readonly<DispatchCounts>;
}

/** Pulsar's names of the subscription types. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  exclusive: "Exclusive",
  shared: "Shared",
  failover: "Failover",
  "key-shared": "Key_Shared",
};

const ACCESS_MODE_NAMES: Readonly<Record<string, string>> = {
  shared: "Shared",
  exclusive: "Exclusive",
  "wait-for-exclusive": "WaitForExclusive",
  "exclusive-with-fencing": "ExclusiveWithFencing",
};

/**
 * One topic's stats with Pulsar's names, to be written by `jsonSteps`. Where not all producers and
 * consumers are listed, `publishersLeftOut` and `consumersLeftOut`, which Pulsar does not have, say so.
 */
export function topicStatsJson(stats: TopicStats, options: StatsOptions): object {
  return {
    waitingPublishers: 0,
    subscriptions: new LazyRecord(
      mapped(
        stats.subscriptions,
        (one) => [one.name, subscriptionJson(stats.name, one, options)] as const,
      ),
    ),
    replication: {},
    deduplicationStatus: stats.isDeduplicated ? "Enabled" : "Disabled",
    topicCreationTimeStamp: stats.openedAtMs,
    lastPublishTimeStamp: stats.publishedAtMs ?? 0,
    ownerBroker: "",
    msgDropRate: 0,
    backlogQuotaLimitSize: -1,
    backlogQuotaLimitTime: -1,
    // Last: a spread before other fields makes V8 build the object key by key, four times slower.
    ...publishersJson([stats], options),
    ...sumsOf([stats]),
    publishRateLimitedTimes: options.limitedTimesOf(stats.name),
  };
}

/** What adds up over partitions. */
type Sums = Readonly<Record<string, number>>;

/** The sums of one topic or of all partitions of one. */
function sumsOf(parts: readonly TopicStats[]): Sums {
  const sum = (of: (stats: TopicStats) => number): number => sumBy(parts, of);
  const messagesIn = sum((stats) => stats.in.messages);
  const bytesIn = sum((stats) => stats.in.bytes);
  return {
    msgRateIn: sum((stats) => stats.in.messagesPerSecond),
    msgThroughputIn: sum((stats) => stats.in.bytesPerSecond),
    msgRateOut: sum((stats) => stats.out.messagesPerSecond),
    msgThroughputOut: sum((stats) => stats.out.bytesPerSecond),
    bytesInCounter: bytesIn,
    msgInCounter: messagesIn,
    bytesOutCounter: sum((stats) => stats.out.bytes),
    msgOutCounter: sum((stats) => stats.out.messages),
    averageMsgSize: messagesIn === 0 ? 0 : bytesIn / messagesIn,
    storageSize: sum(({ sizeBytes }) => sizeBytes),
    backlogSize: sum(({ subscriptions }) =>
      Math.max(0, ...subscriptions.map(({ backlogBytes }) => backlogBytes)),
    ),
  };
}

/** All partitions as one: subscriptions of one name are added up. */
export function partitionedStatsJson(
  topic: string,
  parts: readonly TopicStats[],
  options: StatsOptions & { readonly perPartition: boolean },
): object {
  const subscriptions = new Map<string, SubscriptionStats[]>();
  for (const { subscriptions: own } of parts)
    for (const subscription of own) {
      const ofName = subscriptions.get(subscription.name);
      if (ofName === undefined) subscriptions.set(subscription.name, [subscription]);
      else ofName.push(subscription);
    }
  return {
    ...sumsOf(parts),
    publishRateLimitedTimes: options.limitedTimesOf(topic),
    ...publishersJson(parts, options),
    waitingPublishers: 0,
    subscriptions: new LazyRecord(
      mapped(
        subscriptions,
        ([name, own]) => [name, mergedSubscriptionJson(topic, own, options)] as const,
      ),
    ),
    replication: {},
    deduplicationStatus: parts.some((part) => part.isDeduplicated) ? "Enabled" : "Disabled",
    metadata: { partitions: parts.length, deleted: false },
    partitions: new LazyRecord(
      options.perPartition
        ? mapped(parts, (stats) => [stats.name, topicStatsJson(stats, options)] as const)
        : [],
    ),
  };
}

/** Namespace → bundle → domain → topic → stats. */
export function brokerStatsJson(
  topics: readonly TopicStats[],
  bundle: string,
  counts: Pick<StatsOptions, "limitedTimesOf" | "dispatchCountsOf">,
): object {
  const options = { excludePublishers: false, excludeConsumers: false, ...counts };
  const places = new Map<string, Map<string, TopicStats[]>>();
  for (const stats of topics) {
    const [domain = "", rest = ""] = stats.name.split("://");
    const namespace = rest.split("/").slice(0, 2).join("/");
    const domains = places.get(namespace) ?? new Map<string, TopicStats[]>();
    places.set(namespace, domains);
    const ofDomain = domains.get(domain);
    if (ofDomain === undefined) domains.set(domain, [stats]);
    else ofDomain.push(stats);
  }
  const ofTopics = (own: readonly TopicStats[]): LazyRecord =>
    new LazyRecord(mapped(own, (stats) => [stats.name, topicStatsJson(stats, options)] as const));
  const ofDomains = (domains: ReadonlyMap<string, readonly TopicStats[]>): LazyRecord =>
    new LazyRecord(mapped(domains, ([domain, own]) => [domain, ofTopics(own)] as const));
  return new LazyRecord(
    mapped(
      places,
      ([namespace, domains]) => [namespace, { [bundle]: ofDomains(domains) }] as const,
    ),
  );
}

function mergedSubscriptionJson(
  topic: string,
  parts: readonly SubscriptionStats[],
  options: StatsOptions,
): object {
  const [first] = parts;
  const sum = (of: (stats: SubscriptionStats) => number): number => sumBy(parts, of);
  return {
    ...(first && subscriptionJson(topic, first, options)),
    msgBacklog: sum(({ backlogEntries }) => backlogEntries),
    msgBacklogNoDelayed: sum((stats) => stats.backlogEntries - stats.delayedEntries),
    backlogSize: sum(({ backlogBytes }) => backlogBytes),
    msgDelayed: sum(({ delayedEntries }) => delayedEntries),
    unackedMessages: sum(({ unackedMessages }) => unackedMessages),
    msgRateOut: sum(({ out }) => out.messagesPerSecond),
    msgThroughputOut: sum(({ out }) => out.bytesPerSecond),
    bytesOutCounter: sum(({ out }) => out.bytes),
    msgOutCounter: sum(({ out }) => out.messages),
    ...consumersJson(parts, options),
  };
}

function subscriptionJson(topic: string, stats: SubscriptionStats, options: StatsOptions): object {
  return {
    msgRateOut: stats.out.messagesPerSecond,
    msgThroughputOut: stats.out.bytesPerSecond,
    bytesOutCounter: stats.out.bytes,
    msgOutCounter: stats.out.messages,
    type: TYPE_NAMES[stats.type] ?? "None",
    msgBacklog: stats.backlogEntries,
    msgBacklogNoDelayed: stats.backlogEntries - stats.delayedEntries,
    msgDelayed: stats.delayedEntries,
    backlogSize: stats.backlogBytes,
    unackedMessages: stats.unackedMessages,
    blockedSubscriptionOnUnackedMsgs: stats.isBlocked,
    isDurable: stats.isDurable,
    isReplicated: false,
    activeConsumerName: stats.activeConsumer,
    ...consumersJson([stats], options),
    ...options.dispatchCountsOf(topic, stats.name),
  };
}

function publishersJson(parts: readonly TopicStats[], options: StatsOptions): object {
  if (options.excludePublishers) return { publishers: [] };
  const publishers = new LazyList(eachOf(parts, ({ producers }) => producers, producerJson));
  const leftOut = sumBy(parts, (stats) => stats.producerCount - stats.producers.length);
  return leftOut === 0 ? { publishers } : { publishers, publishersLeftOut: leftOut };
}

function consumersJson(parts: readonly SubscriptionStats[], options: StatsOptions): object {
  if (options.excludeConsumers) return { consumers: [] };
  const consumers = new LazyList(eachOf(parts, (stats) => stats.consumers, consumerJson));
  const leftOut = sumBy(parts, (stats) => stats.consumerCount - stats.consumers.length);
  return leftOut === 0 ? { consumers } : { consumers, consumersLeftOut: leftOut };
}

function sumBy<T>(parts: readonly T[], of: (part: T) => number): number {
  return parts.reduce((total, part) => total + of(part), 0);
}

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item);
}

function* eachOf<P, T>(
  parts: readonly P[],
  itemsOf: (part: P) => readonly T[],
  change: (item: T) => object,
): Generator<object> {
  for (const part of parts) yield* mapped(itemsOf(part), change);
}

function producerJson(stats: ProducerStats): object {
  return {
    producerName: stats.name,
    producerId: Number(stats.id ?? 0n),
    accessMode: ACCESS_MODE_NAMES[stats.accessMode] ?? "Shared",
    msgRateIn: stats.in.messagesPerSecond,
    msgThroughputIn: stats.in.bytesPerSecond,
    averageMsgSize: stats.in.messages === 0 ? 0 : stats.in.bytes / stats.in.messages,
    connectedSince: formatWallTime(stats.connectedAtMs),
    supportsPartialProducer: false,
    ...clientJson(stats.client),
  };
}

function consumerJson(stats: ConsumerStats): object {
  return {
    msgRateOut: stats.out.messagesPerSecond,
    msgThroughputOut: stats.out.bytesPerSecond,
    bytesOutCounter: stats.out.bytes,
    msgOutCounter: stats.out.messages,
    consumerName: stats.name,
    availablePermits: stats.availablePermits,
    unackedMessages: stats.unackedMessages,
    blockedConsumerOnUnackedMsgs: stats.isBlocked,
    // The Go client refuses a fraction.
    avgMessagesPerEntry: Math.round(stats.avgMessagesPerEntry),
    messageAckRate: 0,
    msgRateRedeliver: 0,
    connectedSince: formatWallTime(stats.connectedAtMs),
    ...clientJson(stats.client),
  };
}

function clientJson(client: ClientFacts | undefined): object {
  if (client === undefined) return { metadata: {} };
  return {
    // Java prints a socket's address with a slash in front.
    address: `/${client.address}`,
    clientVersion: client.clientVersion,
    metadata: client.metadata,
  };
}
