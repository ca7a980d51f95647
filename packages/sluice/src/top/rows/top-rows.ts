import { perSecondText } from "@sluice/gateway/internal";
import type {
  LiveGateway,
  LiveGroup,
  LiveLimit,
  LiveSample,
  LiveTopic,
} from "../../live/live-message.ts";
import { lastName, localName } from "../../why/local-name.ts";
import { pipelineRows } from "./pipeline-rows.ts";
import type { TopState } from "../top-state.ts";

export interface TopRow {
  /** Unique, for its history: "broker", "topic NAME", "group NAME", "vertex PIPELINE/VERTEX", "service PIPELINE/VERTEX". */
  readonly key: string;
  readonly indent: number;
  readonly name: string;
  readonly perSecond: number;
  /** "1,000/s", "22 of 22", or "–". */
  readonly limit: string;
  /** Used part of the limit, 0 to 1. */
  readonly use?: number | undefined;
  readonly queue?: number | undefined;
  readonly state:
    | "flowing"
    | "throttled"
    | "waiting"
    | "working"
    | "answering"
    | "busy"
    | "failing"
    | "failed"
    | "stopped";
  readonly reason: string;
  readonly forMs?: number | undefined;
  /** The service that a row stands for, as `sluice why` knows it. */
  readonly service?: string | undefined;
}

/** The path of the messages: broker, topics with a limit, groups with their topics, other topics, vertices, services. */
export function topRows(sample: LiveSample): readonly TopRow[] {
  const { gateway } = sample;
  return [...(gateway === undefined ? [] : gatewayRows(gateway, sample)), ...pipelineRows(sample)];
}

function gatewayRows(gateway: LiveGateway, sample: LiveSample): readonly TopRow[] {
  const { topics, groups } = gateway;
  const topicRow = (topic: LiveTopic, indent: number): TopRow => ({
    key: `topic ${topic.name}`,
    indent,
    // Below its group the name is short: the group says where it belongs.
    name: indent > 1 ? lastName(topic.name) : localName(topic.name),
    ...limited(topic.rate.messages, topic.limit),
    queue: heldFrames(gateway, [topic.name]),
    ...stateOf(topic.reason, waitOf(sample, topic.name, topic.reason)),
  });
  const alone = topics.filter((topic) => groups.every(({ name }) => !topic.groups.includes(name)));
  return [
    {
      key: "broker",
      indent: 0,
      name: "broker",
      ...limited(gateway.rate.messages, gateway.limit),
      ...stateOf(gateway.reason, limiterWait(sample, "broker")),
    },
    ...alone.filter(isLimited).map((topic) => topicRow(topic, 1)),
    ...groups.flatMap((group) => {
      const members = topics.filter((topic) => topic.groups[0] === group.name);
      return [groupRow(group, members, gateway, sample), ...members.map((one) => topicRow(one, 2))];
    }),
    ...alone.filter((topic) => !isLimited(topic)).map((topic) => topicRow(topic, 1)),
  ];
}

function isLimited({ limit }: LiveTopic): boolean {
  return limit !== undefined;
}

function groupRow(
  group: LiveGroup,
  topics: readonly LiveTopic[],
  gateway: LiveGateway,
  sample: LiveSample,
): TopRow {
  return {
    key: `group ${group.name}`,
    indent: 1,
    name: group.name,
    ...limited(group.rate.messages, group.limit),
    queue: heldFrames(
      gateway,
      topics.map(({ name }) => name),
    ),
    ...stateOf(group.reason, limiterWait(sample, `group ${group.name}`)),
  };
}

/** Frames of these topics that wait for a limit, of the producers that are listed. */
function heldFrames({ producers }: LiveGateway, topics: readonly string[]): number {
  return producers
    .filter(({ topic }) => topics.includes(topic))
    .reduce((sum, producer) => sum + producer.heldFrames, 0);
}

function stateOf(
  reason: string | undefined,
  forMs: number | undefined,
): Pick<TopRow, "state" | "reason" | "forMs"> {
  return reason === undefined
    ? { state: "flowing", reason: "" }
    : { state: "throttled", reason, forMs };
}

/** How long producers of a topic have waited for one reason. */
function waitOf(
  { waits }: LiveSample,
  topic: string,
  reason: string | undefined,
): number | undefined {
  for (const wait of waits)
    if (wait.kind === "publish" && wait.why.reason === reason && wait.topics.includes(topic))
      return wait.why.forMs;
  return undefined;
}

function limiterWait({ waits }: LiveSample, limiter: string): number | undefined {
  for (const wait of waits)
    if (wait.kind === "publish" && wait.why.limiter === limiter) return wait.why.forMs;
  return undefined;
}

function limited(
  perSecond: number,
  limit: LiveLimit | undefined,
): Pick<TopRow, "perSecond" | "limit" | "use"> {
  const { messages } = limit ?? {};
  if (messages === undefined) return { perSecond, limit: "–" };
  return { perSecond, limit: perSecondText(messages), use: perSecond / messages };
}

/** The rows that are shown: those that were looked for, in the chosen order. */
export function shownRows(
  sample: LiveSample,
  { find, sort }: Pick<TopState, "find" | "sort">,
): readonly TopRow[] {
  const wanted = find.toLowerCase();
  const rows = topRows(sample).filter(({ name }) => name.toLowerCase().includes(wanted));
  if (sort === "path") return rows;
  return rows.toSorted((a, b) =>
    sort === "heaviest" ? b.perSecond - a.perSecond : (b.forMs ?? -1) - (a.forMs ?? -1),
  );
}

/** What `sluice why` is asked for a row; undefined: for all. */
export function whyNameOf(row: string, sample: LiveSample): string | undefined {
  const [, sort, name] = /^(topic|group|vertex|pipeline|service) (.+)$/.exec(row) ?? [];
  if (sort !== "service") return name;
  return topRows(sample).find(({ key }) => key === row)?.service ?? name;
}

/** What a limit of a row is set with: its target and its present limit, to be edited. */
export function limitWordsOf(row: string, { gateway, pipelines }: LiveSample): string | undefined {
  const [, sort, name = ""] = /^(topic|group|vertex) (.+)$/.exec(row) ?? [];
  if (row === "broker") return `broker messages=${rateWord(gateway?.limit)}`;
  if (sort === "topic")
    return `topic ${name} messages=${rateWord(gateway?.topics.find((one) => one.name === name)?.limit)}`;
  if (sort === "group")
    return `group ${name} messages=${rateWord(gateway?.groups.find((one) => one.name === name)?.limit)}`;
  if (sort !== "vertex") return undefined;
  const vertices = pipelines.flatMap((one) =>
    one.vertices.map((vertex) => ({ key: `${one.name}/${vertex.name}`, max: vertex.share?.max })),
  );
  return `vertex ${name} max=${vertices.find(({ key }) => key === name)?.max ?? ""}`;
}

function rateWord(limit: LiveLimit | undefined): string {
  return limit?.messages === undefined ? "" : `${limit.messages}/s`;
}
