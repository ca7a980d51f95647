import { formatPosition } from "../../../storage/position.ts";
import type { TopicStats } from "../../../topic/topic-stats.ts";
import { nextTurn } from "@sluice/core/system";
import { inTurns } from "../../../topic/stats-steps.ts";
import { bareText, json } from "../../http/answer.ts";
import type { Answer } from "../../http/answer.ts";
import { jsonSteps } from "../../http/json-steps.ts";
import { HttpError } from "../../http/http-error.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { BUNDLE } from "../cluster/lookup-routes.ts";
import { existingTopicOf, notFound, ofBothDomains, partsOf, topicPath } from "../named.ts";
import { brokerStatsJson, partitionedStatsJson, topicStatsJson } from "./stats-json.ts";
import type { StatsOptions } from "./stats-json.ts";

/** Topics of one answer of `broker-stats/topics`. */
const STATS_TOPICS_MAX = 1_000;

/** Producers and consumers of one answer; each takes some 400 bytes. A topic may have a million. */
const LISTED_MAX = 10_000;

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
            const stats = await broker.statsOf(name.full, LISTED_MAX);
            return jsonInTurns(topicStatsJson(stats, optionsOf(admin, request)));
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
            let listedMax = LISTED_MAX;
            for (const part of partsOf(admin, name)) {
              const stats = await statsOrNone(admin, part, listedMax);
              listedMax -= listedOf(stats);
              parts.push(stats);
            }
            const perPartition = request.query("perPartition") !== "false";
            return jsonInTurns(
              partitionedStatsJson(name.full, parts, {
                ...optionsOf(admin, request),
                perPartition,
              }),
            );
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
      handle: async () => {
        const topics = await broker.openTopicStats(LISTED_MAX);
        return jsonInTurns(
          brokerStatsJson(topics.slice(0, STATS_TOPICS_MAX), BUNDLE, countsOf(admin)),
        );
      },
    },
    { method: "GET", path: "/admin/v2/broker-stats/metrics", handle: () => json([]) },
  ];
}

/** The partitions of a topic share its limits, and are counted together. */
function limitedTimesOf({ throttling }: BrokerAdmin): StatsOptions["limitedTimesOf"] {
  const times = new Map<string, number>();
  for (const { topic, frames } of throttling.totals().limited)
    times.set(topic, (times.get(topic) ?? 0) + frames);
  return (topic) => times.get(topic) ?? 0;
}

function countsOf(admin: BrokerAdmin): Pick<StatsOptions, "limitedTimesOf" | "dispatchCountsOf"> {
  const { dispatch } = admin;
  return {
    limitedTimesOf: limitedTimesOf(admin),
    dispatchCountsOf: (topic, subscription) => dispatch.countsOf(topic, subscription),
  };
}

function optionsOf(admin: BrokerAdmin, request: AdminRequest): StatsOptions {
  return {
    ...countsOf(admin),
    excludePublishers: request.flag("excludePublishers"),
    excludeConsumers: request.flag("excludeConsumers"),
  };
}

function listedOf({ producers, subscriptions }: TopicStats): number {
  return subscriptions.reduce((sum, { consumers }) => sum + consumers.length, producers.length);
}

async function jsonInTurns(value: object): Promise<Answer> {
  return bareText(await inTurns(jsonSteps(value), nextTurn));
}

/** A partition that no client has used yet has no stats of its own. */
async function statsOrNone(
  { broker, wallClock }: BrokerAdmin,
  name: string,
  listedMax: number,
): Promise<TopicStats> {
  if (broker.hasTopic(name)) return broker.statsOf(name, listedMax);
  const idle = { messages: 0, bytes: 0, messagesPerSecond: 0, bytesPerSecond: 0 };
  return {
    name,
    producers: [],
    producerCount: 0,
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
