import type {
  LiveGateway,
  LiveGroup,
  LivePipeline,
  LiveProducer,
  LiveSample,
  LiveTopic,
} from "../../../../src/live/live-message.ts";
import { topicName } from "../../words/names.ts";

/** With more producers than this, the lightest are one row together. */
const PRODUCERS_MAX = 8;
const TOPICS_MAX = 6;
const CHAINS_MAX = 4;

/** What the picture shows of one instant. */
export interface PathModel {
  readonly gateway?: GatewayModel | undefined;
  readonly chains: readonly LivePipeline[];
  readonly chainsLeftOut: number;
}

export interface GatewayModel {
  readonly live: LiveGateway;
  readonly producers: readonly LiveProducer[];
  /** Producers that are one row together, and their messages a second. */
  readonly others?: { readonly count: number; readonly rate: number } | undefined;
  /** Topics with their own row, outside of groups. */
  readonly topics: readonly LiveTopic[];
  readonly groups: readonly { readonly group: LiveGroup; readonly topics: readonly LiveTopic[] }[];
  readonly topicsLeftOut: number;
}

export function pathModel({ gateway, pipelines }: LiveSample): PathModel {
  const chains = pipelines.slice(0, CHAINS_MAX);
  return {
    ...(gateway !== undefined && { gateway: gatewayModel(gateway) }),
    chains,
    chainsLeftOut: pipelines.length - chains.length,
  };
}

function gatewayModel(live: LiveGateway): GatewayModel {
  const shown = topicsShown(live.topics);
  const groups = live.groups.map((group) => ({
    group,
    topics: shown.filter((topic) => topic.groups[0] === group.name),
  }));
  const grouped = new Set(groups.flatMap(({ topics }) => topics));
  const { producers, others } = producersShown(live);
  return {
    live,
    producers: inTopicOrder(producers, [
      ...shown.filter((topic) => !grouped.has(topic) && topic.limit !== undefined),
      ...grouped,
      ...shown.filter((topic) => !grouped.has(topic) && topic.limit === undefined),
    ]),
    ...(others !== undefined && { others }),
    topics: shown.filter((topic) => !grouped.has(topic)),
    groups,
    topicsLeftOut: live.topicsLeftOut + live.topics.length - shown.length,
  };
}

/** Those with a limit or a wait first, in the order of their names, so that rows do not jump. */
function topicsShown(topics: readonly LiveTopic[]): readonly LiveTopic[] {
  const kept = new Set(
    topics.toSorted((a, b) => topicWeight(b) - topicWeight(a)).slice(0, TOPICS_MAX),
  );
  return topics
    .filter((topic) => kept.has(topic))
    .toSorted(
      (a, b) =>
        Number(b.limit !== undefined) - Number(a.limit !== undefined) || compare(a.name, b.name),
    );
}

/** Waiting topics before limited ones before busy ones. */
function topicWeight({ reason, limit, rate }: LiveTopic): number {
  return (reason === undefined ? 0 : 1e12) + (limit === undefined ? 0 : 1e9) + rate.messages;
}

/** The heaviest, and the rest as one. */
export function producersShown({
  producers,
  producersLeftOut,
}: Pick<LiveGateway, "producers" | "producersLeftOut">): Pick<
  GatewayModel,
  "producers" | "others"
> {
  const count = producers.length + producersLeftOut.count;
  if (count <= PRODUCERS_MAX && producersLeftOut.count === 0) return { producers };
  const kept = new Set(
    producers.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, PRODUCERS_MAX - 1),
  );
  const rest = producers.filter((one) => !kept.has(one));
  return {
    producers: producers.filter((one) => kept.has(one)),
    others: {
      count: count - kept.size,
      rate: producersLeftOut.rate + rest.reduce((sum, { rate }) => sum + rate, 0),
    },
  };
}

/** Beside the topics that they publish to: then ribbons do not cross. */
function inTopicOrder(
  producers: readonly LiveProducer[],
  topics: readonly LiveTopic[],
): readonly LiveProducer[] {
  const rank = (one: LiveProducer): number => {
    const index = topics.findIndex(({ name }) => topicName(name) === topicName(one.topic));
    return index < 0 ? topics.length : index;
  };
  return producers.toSorted((a, b) => rank(a) - rank(b) || compare(a.name, b.name));
}

function weightOf({ asked, rate }: LiveProducer): number {
  return asked ?? rate;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
