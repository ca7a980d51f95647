import type { Reason } from "@sluice/core";
import type {
  LiveGateway,
  LiveLimit,
  LiveProducer,
  LiveProducerRow,
  LiveRate,
  LiveSample,
  LiveTopic,
  LiveTopicDetail,
} from "../../../../src/live/live-message.ts";
import { labelOf } from "./target.ts";
import type { Target } from "./target.ts";

/** A producer; how long it waited and its receipts are known of a topic that is watched, and only now. */
export type ProducerView = LiveProducer & Partial<LiveProducerRow>;

/** All that the page says of one limit at one instant. */
export interface LimitView {
  readonly target: Exclude<Target, { kind: "held" }>;
  readonly label: string;
  readonly rate: LiveRate;
  /** What holds for it; undefined without a limit. */
  readonly limit: LiveLimit | undefined;
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  /** What producers wait for: of a topic it may be the limit of a group or of the gateway. */
  readonly reason: Reason | undefined;
  readonly producers: readonly ProducerView[];
  readonly producersLeftOut: number;
  readonly limitedForMs: number | undefined;
  /** Whether several gateways share it. */
  readonly isShared: boolean;
  /** Groups that a topic is in; topics that a group has. */
  readonly groups: readonly string[];
  readonly topics: number;
}

/** `missing`: nothing has this name. Undefined: it is not known yet. */
export type FoundView = LimitView | "no gateway" | "missing" | undefined;

export function viewOf(
  target: LimitView["target"],
  sample: LiveSample | undefined,
  detail: LiveTopicDetail | undefined,
): FoundView {
  if (sample === undefined) return undefined;
  const { gateway } = sample;
  if (gateway === undefined) return "no gateway";
  const common = {
    target,
    label: labelOf(target),
    limitedForMs: limitedForMs(sample, target) ?? detail?.limitedForMs,
  };
  switch (target.kind) {
    case "topic":
      return topicView(common, gateway, detail?.name === target.name ? detail : undefined);
    case "group": {
      const group = gateway.groups.find(({ name }) => name === target.name);
      if (group === undefined) return "missing";
      const { rate, limit, asked, isAskedAtLeast, reason, topics, share } = group;
      const names = namesOf(gateway.topics.filter(({ groups }) => groups.includes(target.name)));
      const producers = gateway.producers.filter(({ topic }) => names.has(topic));
      const facts = { rate, limit, asked, isAskedAtLeast, reason, topics };
      return {
        ...common,
        ...facts,
        producers,
        producersLeftOut: 0,
        isShared: share !== undefined,
        groups: [],
      };
    }
    case "broker": {
      const { rate, limit, asked, isAskedAtLeast, reason, producers, share } = gateway;
      const topics = gateway.topics.length + gateway.topicsLeftOut;
      const facts = { rate, limit, asked, isAskedAtLeast, reason, producers, topics };
      const producersLeftOut = gateway.producersLeftOut.count;
      return { ...common, ...facts, producersLeftOut, isShared: share !== undefined, groups: [] };
    }
  }
}

function topicView(
  common: Pick<LimitView, "target" | "label" | "limitedForMs">,
  gateway: LiveGateway,
  detail: LiveTopicDetail | undefined,
): FoundView {
  if (detail?.isMissing === true) return "missing";
  const name = "name" in common.target ? common.target.name : "";
  const listed = gateway.topics.find((one) => one.name === name);
  const topic: LiveTopic | undefined = listed ?? detail;
  if (topic === undefined) return undefined;
  const { rate, limit, asked, isAskedAtLeast, reason, groups } = topic;
  const producers = detail?.rows ?? gateway.producers.filter((one) => one.topic === name);
  return {
    ...common,
    rate,
    limit: hasRate(limit) ? limit : undefined,
    asked,
    isAskedAtLeast,
    reason,
    groups,
    producers,
    producersLeftOut: detail?.rowsLeftOut ?? Math.max(0, topic.producers - producers.length),
    isShared: false,
    topics: 1,
  };
}

/** A limit without messages and bytes is none. */
function hasRate(limit: LiveLimit | undefined): boolean {
  return limit?.messages !== undefined || limit?.bytes !== undefined;
}

/** How long producers have waited for a limit, from the rows of "Waiting now". */
function limitedForMs({ waits }: LiveSample, target: Target): number | undefined {
  for (const wait of waits) {
    if (wait.kind !== "publish") continue;
    const { limiter, topic, forMs } = wait.why;
    const isIts =
      target.kind === "topic"
        ? limiter === "topic" && topic.endsWith(`://${target.name}`)
        : limiter === (target.kind === "group" ? `group ${target.name}` : target.kind);
    if (isIts) return forMs;
  }
  return undefined;
}

function namesOf(topics: readonly LiveTopic[]): ReadonlySet<string> {
  return new Set(topics.map(({ name }) => name));
}
