import type { Clock, Timer } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import type { EventFeed } from "../../observe/event-feed.ts";
import type { BrokerStats } from "../administered-broker.ts";
import type { TopicStats } from "../../topic/topic-stats.ts";
import { json } from "../http/answer.ts";
import type { Answer } from "../http/answer.ts";
import type { AdminRequest } from "../http/request.ts";
import type { Route } from "../http/router.ts";
import { eventStream } from "./event-stream.ts";
import { largestBacklogs } from "./largest-backlogs.ts";
import { metricsText } from "./metrics.ts";

export interface ObservedBroker {
  readonly cluster: string;
  readonly version: string;
  readonly gatewayUrls: readonly string[];
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly events: EventFeed;
  readonly stats: () => Promise<BrokerStats>;
  /** Undefined while the broker serves; else why it does not. */
  readonly notReady: () => string | undefined;
}

/** Topics of one answer of `/api/state`, those with the largest backlog first. */
const STATE_TOPICS_MAX = 1_000;

/** State, events, metrics and health. */
export function observeRoutes(observed: ObservedBroker): readonly Route[] {
  const { events, timer } = observed;
  const startedAtMs = timer.now();
  const uptimeMs = (): number => timer.now() - startedAtMs;
  return [
    {
      method: "GET",
      path: "/api/state",
      handle: async () => json(state(observed, await observed.stats(), uptimeMs())),
    },
    {
      method: "GET",
      path: "/api/events",
      handle: (request) => eventStream(events, timer, lastEventId(request)),
    },
    {
      method: "GET",
      path: "/metrics",
      handle: async () => ({
        status: 200,
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        body: await metricsText({
          nextTurn,
          cluster: observed.cluster,
          stats: await observed.stats(),
          events: events.counts,
          uptimeMs: uptimeMs(),
          residentBytes: process.memoryUsage.rss(),
        }),
      }),
    },
    { method: "GET", path: "/healthz", access: "all", handle: () => json({ status: "ok" }) },
    { method: "GET", path: "/readyz", access: "all", handle: () => ready(observed.notReady()) },
  ];
}

function ready(reason: string | undefined): Answer {
  return reason === undefined
    ? json({ status: "ready" })
    : json({ status: "not ready", reason }, 503);
}

/** What a browser sends when it connects again. */
function lastEventId(request: AdminRequest): number {
  const id = Number(request.header("last-event-id") ?? request.query("lastEventId") ?? 0);
  return Number.isSafeInteger(id) ? id : 0;
}

function state(
  observed: ObservedBroker,
  { topics, memoryBytes, memoryBytesMax, ...connections }: BrokerStats,
  uptimeMs: number,
): object {
  const { rss, heapUsed, external } = process.memoryUsage();
  const shown = largestBacklogs(topics, STATE_TOPICS_MAX);
  return {
    version: observed.version,
    uptimeMs: Math.round(uptimeMs),
    gateway: { upstream: "embedded", urls: observed.gatewayUrls },
    connections,
    memory: {
      budgetBytes: memoryBytes,
      budgetMaxBytes: memoryBytesMax,
      rssBytes: rss,
      heapBytes: heapUsed,
      externalBytes: external,
    },
    events: Object.fromEntries(observed.events.counts),
    topics: shown.map(topicState),
    leftOutTopics: topics.length - shown.length,
  };
}

function topicState(stats: TopicStats): object {
  return {
    name: stats.name,
    producers: stats.producers.length,
    in: stats.in,
    out: stats.out,
    sizeBytes: stats.sizeBytes,
    blocked: stats.blocked,
    failure: stats.failure,
    isTerminated: stats.isTerminated,
    subscriptions: stats.subscriptions.map((subscription) => ({
      name: subscription.name,
      type: subscription.type,
      isDurable: subscription.isDurable,
      consumers: subscription.consumers.length,
      backlogEntries: subscription.backlogEntries,
      backlogBytes: subscription.backlogBytes,
      unackedMessages: subscription.unackedMessages,
    })),
  };
}
