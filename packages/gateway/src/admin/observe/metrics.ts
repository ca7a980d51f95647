import type { BrokerStats, ThrottlingTotals } from "../administered-broker.ts";
import type { SubscriptionStats, TopicStats } from "../../topic/topic-stats.ts";
import { backlogOf, largestBacklogs } from "./largest-backlogs.ts";
import { addLimitMetrics } from "./limit-metrics.ts";
import { NO_LABELS } from "./metrics-writer.ts";
import type { Labels, MetricsWriter } from "./metrics-writer.ts";

/**
 * Topics and subscriptions that have series of their own, those with the largest backlog first. All
 * others are only in the sums of their namespace. It bounds the answer to about 10 MB.
 */
const TOPICS_MAX = 1_000;
const SUBSCRIPTIONS_MAX = 5_000;
/** Namespaces with sums of their own, in the order of their topics. */
const NAMESPACES_MAX = 1_000;

interface GatewayInput {
  readonly cluster: string;
  readonly stats: BrokerStats;
  readonly throttling: ThrottlingTotals;
}

interface MetricsInput {
  readonly gateway: GatewayInput | undefined;
  readonly events: ReadonlyMap<string, number>;
  readonly uptimeMs: number;
  readonly residentBytes: number;
  /** Clients of the broker have their turn after each metric. */
  readonly nextTurn: () => Promise<void>;
  readonly addMetrics: (to: MetricsWriter) => void;
}

/** Writes the state of a process, with Pulsar's names where Pulsar has one. */
export async function writeMetrics(
  to: MetricsWriter,
  { gateway, events, nextTurn, addMetrics, ...process }: MetricsInput,
): Promise<void> {
  if (gateway !== undefined) await addGateway(to, gateway, nextTurn);
  const gauge = (name: string, help: string, value: number): void =>
    to.add({ name, help, type: "gauge" }, [[NO_LABELS, value]]);
  gauge("sluice_uptime_seconds", "Seconds since the start.", process.uptimeMs / 1000);
  gauge("process_resident_memory_bytes", "Memory of the process, bytes.", process.residentBytes);
  to.add(
    { name: "sluice_events_total", help: "Events by kind.", type: "counter" },
    [...events].map(([kind, count]) => [{ kind }, count] as const),
  );
  addMetrics(to);
}

async function addGateway(
  to: MetricsWriter,
  { cluster, stats, throttling }: GatewayInput,
  nextTurn: () => Promise<void>,
): Promise<void> {
  await addTopics(to, { cluster, nextTurn }, stats.topics);
  const gauge = (name: string, help: string, value: number): void =>
    to.add({ name, help, type: "gauge" }, [[NO_LABELS, value]]);
  gauge("sluice_connections", "Connections of clients.", stats.connections);
  gauge("sluice_paused_connections", "Connections that are not read now.", stats.pausedConnections);
  gauge("sluice_memory_bytes", "Bytes of the budget that are in use.", stats.memoryBytes);
  gauge("sluice_memory_max_bytes", "Bytes of the budget.", stats.memoryBytesMax);
  gauge("sluice_pending_sends", "SENDs without a receipt.", stats.pendingSends);
  gauge("sluice_pending_bytes", "Bytes of entries being stored.", stats.pendingBytes);
  gauge("sluice_unread_bytes", "Bytes that clients have not taken yet.", stats.unreadBytes);
  gauge("sluice_open_topics", "Topics and partitions that are open.", stats.topics.length);
  to.add(
    { name: "sluice_refused_connections_total", help: "Connections refused.", type: "counter" },
    [[NO_LABELS, stats.refusedConnections]],
  );
  await nextTurn();
  addLimitMetrics(to, cluster, throttling);
}

async function addTopics(
  to: MetricsWriter,
  { cluster, nextTurn }: Pick<GatewayInput, "cluster"> & Pick<MetricsInput, "nextTurn">,
  all: readonly TopicStats[],
): Promise<void> {
  const namespaces = sumsByNamespace(all);
  to.add(
    { name: "pulsar_topics_count", help: "Open topics of a namespace.", type: "gauge" },
    [...namespaces].map(([namespace, count]) => [{ cluster, namespace }, count] as const),
  );
  await nextTurn();
  const topics = largestBacklogs(all, TOPICS_MAX);
  to.add(
    {
      name: "sluice_metrics_left_out_topics",
      help: "Open topics without series of their own.",
      type: "gauge",
    },
    [[NO_LABELS, all.length - topics.length]],
  );
  const labelled = topics.map((stats) => ({ stats, labels: labelsOf(cluster, stats) }));
  for (const [name, help, valueOf] of TOPIC_METRICS) {
    await nextTurn();
    to.add(
      { name, help, type: name.endsWith("_total") ? "counter" : "gauge" },
      labelled.map(({ stats, labels }) => [labels, valueOf(stats)] as const),
    );
  }
  const subscriptions = topics
    .flatMap((topic) => topic.subscriptions.map((stats) => ({ topic, stats })))
    .slice(0, SUBSCRIPTIONS_MAX)
    .map(({ topic, stats }) => ({
      stats,
      labels: { ...labelsOf(cluster, topic), subscription: stats.name },
    }));
  for (const [name, help, valueOf] of SUBSCRIPTION_METRICS) {
    await nextTurn();
    to.add(
      { name, help, type: "gauge" },
      subscriptions.map(({ stats, labels }) => [labels, valueOf(stats)] as const),
    );
  }
}

const TOPIC_METRICS: readonly (readonly [string, string, (stats: TopicStats) => number])[] = [
  ["pulsar_rate_in", "Messages in per second.", (stats) => stats.in.messagesPerSecond],
  ["pulsar_throughput_in", "Bytes in per second.", (stats) => stats.in.bytesPerSecond],
  ["pulsar_rate_out", "Messages out per second.", (stats) => stats.out.messagesPerSecond],
  ["pulsar_throughput_out", "Bytes out per second.", (stats) => stats.out.bytesPerSecond],
  ["pulsar_in_messages_total", "Messages in.", (stats) => stats.in.messages],
  ["pulsar_in_bytes_total", "Bytes in.", (stats) => stats.in.bytes],
  ["pulsar_producers_count", "Producers of a topic.", ({ producerCount }) => producerCount],
  [
    "pulsar_subscriptions_count",
    "Subscriptions of a topic.",
    ({ subscriptions }) => subscriptions.length,
  ],
  ["pulsar_consumers_count", "Consumers of a topic.", consumersOf],
  ["pulsar_storage_size", "Bytes of the topic's log.", ({ sizeBytes }) => sizeBytes],
  ["pulsar_msg_backlog", "Entries of all backlogs of a topic.", backlogOf],
];

const SUBSCRIPTION_METRICS: readonly (readonly [
  string,
  string,
  (stats: SubscriptionStats) => number,
])[] = [
  ["pulsar_subscription_back_log", "Entries not acknowledged.", (stats) => stats.backlogEntries],
  [
    "pulsar_subscription_delayed",
    "Entries that wait for their time.",
    (stats) => stats.delayedEntries,
  ],
  [
    "pulsar_subscription_unacked_messages",
    "Messages out and not acknowledged.",
    (stats) => stats.unackedMessages,
  ],
  [
    "pulsar_subscription_msg_rate_out",
    "Messages out per second.",
    (stats) => stats.out.messagesPerSecond,
  ],
  [
    "pulsar_subscription_consumers_count",
    "Consumers of a subscription.",
    ({ consumerCount }) => consumerCount,
  ],
];

function labelsOf(cluster: string, { name }: TopicStats): Labels {
  return { cluster, namespace: namespaceOf(name), topic: name };
}

function sumsByNamespace(topics: readonly TopicStats[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of topics) {
    const namespace = namespaceOf(name);
    if (counts.has(namespace) || counts.size < NAMESPACES_MAX)
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return counts;
}

/** Of a full name. */
function namespaceOf(topic: string): string {
  return topic.split("://")[1]?.split("/").slice(0, 2).join("/") ?? "";
}

function consumersOf({ subscriptions }: TopicStats): number {
  return subscriptions.reduce((sum, { consumerCount }) => sum + consumerCount, 0);
}
