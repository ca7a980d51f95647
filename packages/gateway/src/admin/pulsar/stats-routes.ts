import { formatPosition } from "../../storage/position.ts";
import type { TopicStats } from "../../topic/topic-stats.ts";
import { json } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";
import type { AdminRequest } from "../http/request.ts";
import type { Route } from "../http/router.ts";
import type { BrokerAdmin } from "./broker-admin.ts";
import { BUNDLE } from "./lookup-routes.ts";
import { existingTopicOf, notFound, ofBothDomains, partsOf, topicPath } from "./named.ts";
import { partitionedStatsJson, topicStatsJson } from "./stats-json.ts";
import type { StatsOptions } from "./stats-json.ts";

/** Topics of one answer of `broker-stats/topics`, which is written in one turn of the event loop. */
const STATS_TOPICS_MAX = 1_000;

/** Stats of topics and of partitioned topics. */
export function statsRoutes(admin: BrokerAdmin): readonly Route[] {
  const { broker } = admin;
  return [
    ...ofBothDomains((domain) => {
      const path = topicPath(domain);
      return [
        {
          method: "GET",
          path: `${path}/stats`,
          handle: async (request) => {
            const name = existingTopicOf(admin, domain, request);
            if (broker.partitionsOf(name.full) > 0) throw notFound(name);
            return json(topicStatsJson(await broker.statsOf(name.full), optionsOf(request)));
          },
        },
        {
          method: "GET",
          path: `${path}/partitioned-stats`,
          handle: async (request) => {
            const name = existingTopicOf(admin, domain, request);
            if (broker.partitionsOf(name.full) === 0)
              throw new HttpError(404, "Partitioned Topic not found");
            const parts: TopicStats[] = [];
            for (const part of partsOf(admin, name)) parts.push(await statsOrNone(admin, part));
            const perPartition = request.query("perPartition") !== "false";
            return json(partitionedStatsJson(parts, { ...optionsOf(request), perPartition }));
          },
        },
        {
          method: "GET",
          path: `${path}/internalStats`,
          handle: async (request) => {
            const name = existingTopicOf(admin, domain, request);
            if (broker.partitionsOf(name.full) > 0) throw notFound(name);
            return json(await internalStats(admin, name.full, domain === "persistent"));
          },
        },
      ];
    }),
    {
      method: "GET",
      path: "/admin/v2/broker-stats/topics",
      handle: async () => json(brokerStats(await broker.openTopicStats())),
    },
    { method: "GET", path: "/admin/v2/broker-stats/metrics", handle: () => json([]) },
  ];
}

function optionsOf(request: AdminRequest): StatsOptions {
  return {
    excludePublishers: request.flag("excludePublishers"),
    excludeConsumers: request.flag("excludeConsumers"),
  };
}

/** A partition that no client has used yet has no stats of its own. */
async function statsOrNone({ broker, wallClock }: BrokerAdmin, name: string): Promise<TopicStats> {
  if (broker.hasTopic(name)) return broker.statsOf(name);
  const idle = { messages: 0, bytes: 0, messagesPerSecond: 0, bytesPerSecond: 0 };
  return {
    name,
    producers: [],
    subscriptions: [],
    sizeBytes: 0,
    in: idle,
    out: idle,
    openedAtMs: wallClock.now(),
    publishedAtMs: undefined,
    droppedMessages: 0,
    isTerminated: false,
    isDeduplicated: false,
    blocked: undefined,
    failure: undefined,
  };
}

/** Of Pulsar's internal stats those that a log has without ledgers and bookies. */
async function internalStats(
  { broker }: BrokerAdmin,
  topic: string,
  isPersistent: boolean,
): Promise<object> {
  const stats = await broker.statsOf(topic);
  const last = isPersistent ? await broker.lastEntry(topic) : undefined;
  return {
    totalSize: stats.sizeBytes,
    currentLedgerSize: stats.sizeBytes,
    lastConfirmedEntry: formatPosition(last?.position ?? { ledgerId: -1, entryId: -1 }),
    state: stats.isTerminated ? "Terminated" : "LedgerOpened",
    ledgers: [],
    cursors: Object.fromEntries(
      stats.subscriptions.map(({ name, backlogEntries }) => [
        name,
        {
          state: "Open",
          messagesConsumedCounter: 0,
          numberOfEntriesSinceFirstNotAckedMessage: backlogEntries,
        },
      ]),
    ),
    schemaLedgers: [],
    compactedLedger: {
      ledgerId: -1,
      entries: -1,
      size: -1,
      offloaded: false,
      underReplicated: false,
    },
  };
}

/** Namespace → bundle → domain → topic → stats, of the topics that are open. */
function brokerStats(topics: readonly TopicStats[]): object {
  const options = { excludePublishers: false, excludeConsumers: false };
  const byNamespace: Record<string, Record<string, Record<string, Record<string, object>>>> = {};
  for (const stats of topics.slice(0, STATS_TOPICS_MAX)) {
    const [domain = "", rest = ""] = stats.name.split("://");
    const namespace = rest.split("/").slice(0, 2).join("/");
    const bundles = (byNamespace[namespace] ??= { [BUNDLE]: {} });
    const domains = (bundles[BUNDLE] ??= {});
    (domains[domain] ??= {})[stats.name] = topicStatsJson(stats, options);
  }
  return byNamespace;
}
