import { countText, perSecondText, shortTopic } from "@sluice/gateway/internal";
import type { AnsweredLimits } from "../limits/limit-table.ts";
import type { WholeWhy } from "../why/why-lines.ts";
import type { TopState } from "./top-state.ts";
import type { StateAnswer, TopSnapshot, VertexAnswer } from "./state-answer.ts";

export interface TopRow {
  /** Unique, for its history. */
  readonly key: string;
  readonly indent: number;
  readonly name: string;
  readonly perSecond: number;
  /** "1,000/s", "22 of 22", or "–". */
  readonly limit: string;
  /** Used part of the limit, 0 to 1. */
  readonly use?: number | undefined;
  readonly queue?: number | undefined;
  readonly state: "flowing" | "throttled" | "waiting" | "working" | "failed" | "stopped";
  readonly reason: string;
  readonly forMs?: number | undefined;
}

/** Topics of one view, the busiest first. */
const TOPICS_MAX = 20;

/** The path of the messages: broker, topics, vertices. */
export function topRows({ state, why, limits }: TopSnapshot): readonly TopRow[] {
  return [...gatewayRows(state, limits), ...pipelineRows(state, why)];
}

function gatewayRows(state: StateAnswer, { limits = [] }: AnsweredLimits): readonly TopRow[] {
  const { gateway, topics = [], waiting = [] } = state;
  if (gateway === undefined) return [];
  const limitOf = (level: string, ...names: readonly (string | undefined)[]): number | undefined =>
    limits.find((one) => one.level === level && names.includes(one.name))?.messages ?? undefined;
  const total = topics.reduce((sum, topic) => sum + topic.in.messagesPerSecond, 0);
  const busiest = topics
    .toSorted((a, b) => b.in.messagesPerSecond - a.in.messagesPerSecond)
    .slice(0, TOPICS_MAX);
  const broker = limited(total, limitOf("broker", undefined));
  return [
    { key: "broker", indent: 0, name: "broker", ...broker, state: "flowing", reason: "" },
    ...busiest.map((topic): TopRow => {
      const held = waiting.find((one) => one.topic === topic.name);
      const backlogs = topic.subscriptions.map(({ backlogEntries }) => backlogEntries);
      return {
        key: `topic ${topic.name}`,
        indent: 1,
        name: localName(topic.name),
        ...limited(
          topic.in.messagesPerSecond,
          limitOf("topic", topic.name, shortTopic(topic.name)),
        ),
        queue: Math.max(0, ...backlogs),
        state: held === undefined ? "flowing" : "throttled",
        reason: held?.reason ?? "",
        forMs: held?.forMs,
      };
    }),
  ];
}

function limited(
  perSecond: number,
  limit: number | undefined,
): Pick<TopRow, "perSecond" | "limit" | "use"> {
  if (limit === undefined) return { perSecond, limit: "–" };
  return { perSecond, limit: perSecondText(limit), use: perSecond / limit };
}

function pipelineRows({ pipelines = [] }: StateAnswer, why: WholeWhy): readonly TopRow[] {
  return pipelines.flatMap(({ name, status, vertices }): readonly TopRow[] => {
    if (vertices.length > 0) return vertices.map((vertex) => vertexRow(name, vertex, why));
    const state = status === "failed" ? "failed" : "stopped";
    return [
      { key: `pipeline ${name}`, indent: 0, name, perSecond: 0, limit: "–", state, reason: "" },
    ];
  });
}

function vertexRow(pipeline: string, vertex: VertexAnswer, why: WholeWhy): TopRow {
  const { name, perSecond, queue, waiting } = vertex;
  const isThis = (one: { readonly pipeline: string; readonly vertex: string }): boolean =>
    one.pipeline === pipeline && one.vertex === name;
  const cause = why.pipelines?.vertices.find(isThis);
  const working = why.pipelines?.working.find(isThis);
  // It waits for room in the next buffer; the cause is further along.
  const behind = cause === undefined && waiting?.reason === null ? waiting : undefined;
  return {
    key: `vertex ${pipeline}/${name}`,
    indent: 0,
    name: `${pipeline}/${name}`,
    perSecond,
    ...vertexLimit(vertex),
    queue: queue ?? undefined,
    ...(cause !== undefined
      ? { state: "throttled", reason: cause.reason, forMs: cause.forMs }
      : working !== undefined
        ? { state: "working", reason: workReason(working.failure), forMs: working.forMs }
        : behind !== undefined
          ? { state: "waiting", reason: "buffer full", forMs: behind.forMs }
          : { state: "flowing", reason: "" }),
  };
}

/** The gate of a sink is nearer to its service than its rate limit. */
function vertexLimit({ gate, rateLimit, perSecond }: VertexAnswer): Pick<TopRow, "limit" | "use"> {
  if (gate?.limit !== undefined && gate.limit !== null)
    return {
      limit: `${countText(gate.inFlight)} of ${countText(gate.limit)}`,
      use: gate.inFlight / gate.limit,
    };
  const share = rateLimit?.share ?? undefined;
  if (share === undefined || share <= 0) return { limit: "–" };
  return { limit: perSecondText(share), use: perSecond / share };
}

function workReason(failure: string | undefined): string {
  return failure === undefined ? "no answer" : "failing";
}

/** The rows that are shown: those that were looked for, in the chosen order. */
export function shownRows(
  snapshot: TopSnapshot,
  { find, sort }: Pick<TopState, "find" | "sort">,
): readonly TopRow[] {
  const wanted = find.toLowerCase();
  const rows = topRows(snapshot).filter(({ name }) => name.toLowerCase().includes(wanted));
  if (sort === "path") return rows;
  return rows.toSorted((a, b) =>
    sort === "heaviest" ? b.perSecond - a.perSecond : (b.forMs ?? -1) - (a.forMs ?? -1),
  );
}

/** What `sluice why` is asked for a row; undefined: for all. */
export function whyNameOf(row: string): string | undefined {
  return /^(?:topic|vertex|pipeline) (.+)$/.exec(row)?.[1];
}

/** What a limit of a row is set with: its target and its present limit, to be edited. */
export function limitWordsOf(row: string, { limits }: TopSnapshot): string | undefined {
  const [, sort, name = ""] = /^(topic|vertex) (.+)$/.exec(row) ?? [];
  if (sort === "vertex") {
    const max = limits.vertices?.find((one) => one.name === name)?.rateLimit?.max;
    return `vertex ${name} max=${max ?? ""}`;
  }
  const messagesOf = (level: string, ...names: readonly (string | undefined)[]): string => {
    const found = limits.limits?.find((one) => one.level === level && names.includes(one.name));
    return typeof found?.messages === "number" ? `${found.messages}/s` : "";
  };
  if (row === "broker") return `broker messages=${messagesOf("broker", undefined)}`;
  if (sort !== "topic") return undefined;
  const short = shortTopic(name);
  return `topic ${short} messages=${messagesOf("topic", name, short)}`;
}

/** Topics of the default namespace without it. */
export function localName(topic: string): string {
  return shortTopic(topic).replace(/^public\/default\//, "");
}
