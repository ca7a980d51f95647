import { formatWallTime } from "@sluice/core/system";
import type {
  ClientFacts,
  ConsumerStats,
  ProducerStats,
  SubscriptionStats,
  TopicStats,
} from "../../topic/topic-stats.ts";

export interface StatsOptions {
  readonly excludePublishers: boolean;
  readonly excludeConsumers: boolean;
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

/** One topic's stats with Pulsar's names. */
export function topicStatsJson(stats: TopicStats, options: StatsOptions): object {
  const publishers = options.excludePublishers ? [] : stats.producers.map(producerJson);
  const subscriptions = Object.fromEntries(
    stats.subscriptions.map((subscription) => [
      subscription.name,
      subscriptionJson(subscription, options),
    ]),
  );
  return {
    publishers,
    waitingPublishers: 0,
    subscriptions,
    replication: {},
    deduplicationStatus: stats.isDeduplicated ? "Enabled" : "Disabled",
    topicCreationTimeStamp: stats.openedAtMs,
    lastPublishTimeStamp: stats.publishedAtMs ?? 0,
    ownerBroker: "",
    msgDropRate: 0,
    backlogQuotaLimitSize: -1,
    backlogQuotaLimitTime: -1,
    // Last: a spread before other fields makes V8 build the object key by key, four times slower.
    ...sumsOf([stats]),
  };
}

/** What adds up over partitions. */
type Sums = Readonly<Record<string, number>>;

/** The sums of one topic or of all partitions of one. */
function sumsOf(parts: readonly TopicStats[]): Sums {
  const sum = (of: (stats: TopicStats) => number): number =>
    parts.reduce((total, stats) => total + of(stats), 0);
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
    publishRateLimitedTimes: 0,
  };
}

/** All partitions as one: subscriptions of one name are added up. */
export function partitionedStatsJson(
  parts: readonly TopicStats[],
  options: StatsOptions & { readonly perPartition: boolean },
): object {
  const subscriptions = new Map<string, SubscriptionStats[]>();
  for (const { subscriptions: own } of parts)
    for (const subscription of own)
      subscriptions.set(subscription.name, [
        ...(subscriptions.get(subscription.name) ?? []),
        subscription,
      ]);
  const partitions = parts.map((stats) => [stats.name, topicStatsJson(stats, options)] as const);
  return {
    ...sumsOf(parts),
    publishers: options.excludePublishers
      ? []
      : parts.flatMap(({ producers }) => producers.map(producerJson)),
    waitingPublishers: 0,
    subscriptions: Object.fromEntries(
      [...subscriptions].map(([name, own]) => [name, mergedSubscriptionJson(own, options)]),
    ),
    replication: {},
    deduplicationStatus: parts.some((part) => part.isDeduplicated) ? "Enabled" : "Disabled",
    metadata: { partitions: parts.length, deleted: false },
    partitions: options.perPartition ? Object.fromEntries(partitions) : {},
  };
}

function mergedSubscriptionJson(
  parts: readonly SubscriptionStats[],
  options: StatsOptions,
): object {
  const [first] = parts;
  const sum = (of: (stats: SubscriptionStats) => number): number =>
    parts.reduce((total, stats) => total + of(stats), 0);
  return {
    ...(first && subscriptionJson(first, options)),
    msgBacklog: sum(({ backlogEntries }) => backlogEntries),
    msgBacklogNoDelayed: sum((stats) => stats.backlogEntries - stats.delayedEntries),
    backlogSize: sum(({ backlogBytes }) => backlogBytes),
    msgDelayed: sum(({ delayedEntries }) => delayedEntries),
    unackedMessages: sum(({ unackedMessages }) => unackedMessages),
    msgRateOut: sum(({ out }) => out.messagesPerSecond),
    msgThroughputOut: sum(({ out }) => out.bytesPerSecond),
    bytesOutCounter: sum(({ out }) => out.bytes),
    msgOutCounter: sum(({ out }) => out.messages),
    consumers: options.excludeConsumers
      ? []
      : parts.flatMap(({ consumers }) => consumers.map(consumerJson)),
  };
}

function subscriptionJson(stats: SubscriptionStats, { excludeConsumers }: StatsOptions): object {
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
    blockedSubscriptionOnUnackedMsgs: stats.consumers.some(({ isBlocked }) => isBlocked),
    isDurable: stats.isDurable,
    isReplicated: false,
    activeConsumerName: stats.activeConsumer,
    consumers: excludeConsumers ? [] : stats.consumers.map(consumerJson),
  };
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
