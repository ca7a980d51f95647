import type { Clock, Timer } from "@sluice/core";
import type { EventFeed } from "../../observe/event-feed.ts";
import type { SharedLimitState } from "../../ingress/fleet/group-shares.ts";
import type { AdminAddition } from "../admin-addition.ts";
import type { BrokerStats, Throttling } from "../administered-broker.ts";
import type { TopicStats } from "../../topic/topic-stats.ts";
import { json } from "../http/answer.ts";
import type { Answer } from "../http/answer.ts";
import type { AdminRequest } from "../http/request.ts";
import type { Route } from "../http/router.ts";
import { eventStream } from "./event-stream.ts";
import { largestBacklogs } from "./largest-backlogs.ts";
import type { ObservedGateway } from "./observed-gateway.ts";
import type { CollectMetrics } from "./process-metrics.ts";
import { PrometheusText } from "./prometheus-text.ts";

export interface ObservedProcess {
  readonly version: string;
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly events: EventFeed;
  /** Undefined in a process of pipelines alone. */
  readonly gateway: ObservedGateway | undefined;
  readonly addition: AdminAddition;
  readonly collect: CollectMetrics;
  /** Undefined while the process serves; else why it does not. */
  readonly notReady: () => string | undefined;
}

/** Topics of one answer of `/api/state`, those with the largest backlog first. */
const STATE_TOPICS_MAX = 1_000;
const STATE_WAITING_MAX = 200;

/** State, events, metrics and health. */
export function observeRoutes(observed: ObservedProcess): readonly Route[] {
  const { events, timer, gateway, addition, collect } = observed;
  const startedAtMs = timer.now();
  const uptimeMs = (): number => timer.now() - startedAtMs;
  return [
    {
      method: "GET",
      path: "/api/state",
      handle: async (request) => {
        request.requireKnownQuery([]);
        const part = gateway === undefined ? {} : gatewayState(gateway, await gateway.stats());
        return json({ ...processState(observed, uptimeMs()), ...part, ...addition.state() });
      },
    },
    {
      method: "GET",
      path: "/api/events",
      handle: (request) => {
        request.requireKnownQuery(["lastEventId"]);
        return eventStream(events, timer, lastEventId(request));
      },
    },
    {
      method: "GET",
      path: "/metrics",
      handle: async () => {
        const text = new PrometheusText();
        await collect(text);
        return {
          status: 200,
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
          body: text.toString(),
        };
      },
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

interface ProcessState {
  readonly version: string;
  readonly uptimeMs: number;
  readonly memory: MemoryState;
  readonly events: Readonly<Record<string, number>>;
}

interface MemoryState {
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
}

function processState({ version, events }: ObservedProcess, uptimeMs: number): ProcessState {
  return {
    version,
    uptimeMs: Math.round(uptimeMs),
    memory: memoryState(),
    events: Object.fromEntries(events.counts),
  };
}

function memoryState(): MemoryState {
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed, externalBytes: external };
}

function gatewayState(
  { upstream, urls, throttling, shares }: ObservedGateway,
  { topics, memoryBytes, memoryBytesMax, ...connections }: BrokerStats,
): object {
  const shown = largestBacklogs(topics, STATE_TOPICS_MAX);
  return {
    gateway: { upstream, urls },
    connections,
    memory: { budgetBytes: memoryBytes, budgetMaxBytes: memoryBytesMax, ...memoryState() },
    ...throttlingState(throttling),
    sharedLimits: (shares?.states() ?? []).map(sharedState),
    topics: shown.map(topicState),
    leftOutTopics: topics.length - shown.length,
  };
}

/** What waits and for which reason; `/api/why` has the rest. */
function throttlingState(throttling: Throttling): object {
  const { topics, connections } = throttling.waiting();
  const nowMs = throttling.now();
  return {
    waiting: topics.slice(0, STATE_WAITING_MAX).map((one) => ({
      topic: one.topic,
      reason: one.reason,
      limiter: one.limiter,
      producers: one.producers.length + one.others,
      forMs: Math.max(0, Math.round(nowMs - one.sinceMs)),
    })),
    pausedByReason: countsOf(connections.map(({ reason }) => reason)),
  };
}

/** A limit that several gateways share; without a share until the store has answered. */
function sharedState({ target, kind, pool, fleet }: SharedLimitState): object {
  return {
    ...target,
    unit: kind,
    pool,
    ceiling: fleet?.ceiling ?? null,
    share: fleet?.share ?? null,
    members: fleet?.membership?.size ?? null,
  };
}

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function topicState(stats: TopicStats): object {
  return {
    name: stats.name,
    producers: stats.producerCount,
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
      consumers: subscription.consumerCount,
      backlogEntries: subscription.backlogEntries,
      backlogBytes: subscription.backlogBytes,
      unackedMessages: subscription.unackedMessages,
    })),
  };
}
