import type { Reason } from "@sluice/core";
import type { LiveGateway, LiveTopic } from "../../../../src/live/live-message.ts";
import { bytesText, countText, rateText } from "../../words/numbers.ts";
import { labelOf } from "./target.ts";
import type { Target } from "./target.ts";

/** A line of the list of limits. */
export interface ListedLimit {
  readonly target: Target;
  readonly label: string;
  readonly value: string;
  /** Use against the limit, 0 to 1 and beyond; absent without a limit. */
  readonly part?: number | undefined;
  readonly reason?: Reason | undefined;
  /** A topic that stands below its group. */
  readonly isBelow: boolean;
}

export interface LimitList {
  readonly heading: string;
  readonly limits: readonly ListedLimit[];
  readonly leftOut: number;
}

/** Topics outside of groups, groups with their topics, and the gateway: those that wait first, then by name. */
export function limitList(gateway: LiveGateway): readonly LimitList[] {
  const named = new Set(gateway.groups.map(({ name }) => name));
  const grouped = (topic: LiveTopic): boolean =>
    topic.groups.some((group) => named.has(group)) && topic.limit === undefined;
  const topics = sorted(gateway.topics.filter((topic) => !grouped(topic)));
  const groups = sorted(gateway.groups);
  return [
    {
      heading: "Topics",
      limits: topics.map((one) => topicLine(one)),
      leftOut: gateway.topicsLeftOut,
    },
    {
      heading: "Groups",
      limits: groups.flatMap((group) => [
        lineOf({ kind: "group", name: group.name }, group),
        ...sorted(
          gateway.topics.filter((one) => grouped(one) && one.groups.includes(group.name)),
        ).map((one) => topicLine(one, true)),
      ]),
      leftOut: 0,
    },
    {
      heading: "Gateway",
      limits: [lineOf({ kind: "broker" }, gateway), heldLine(gateway)],
      leftOut: 0,
    },
  ].filter(({ limits }) => limits.length > 0);
}

/** What `/topics` shows: what waits, else the first topic with a limit, else the first line. */
export function firstTarget(gateway: LiveGateway): Target {
  const all = limitList(gateway).flatMap(({ limits }) => limits);
  const shown =
    all.find(({ reason, part }) => reason !== undefined && part !== undefined) ??
    all.find(({ part, target }) => part !== undefined && target.kind === "topic") ??
    all[0];
  return shown?.target ?? { kind: "broker" };
}

type Limited = Pick<LiveTopic, "rate" | "limit" | "reason">;

function topicLine(topic: LiveTopic, isBelow = false): ListedLimit {
  const line = lineOf({ kind: "topic", name: topic.name }, topic);
  // A topic without a limit of its own waits for its group's: the glyph stands there.
  return { ...line, isBelow, ...(isBelow && { reason: undefined }) };
}

function lineOf(target: Target, { rate, limit, reason }: Limited): ListedLimit {
  const common = {
    target,
    label: target.kind === "broker" ? "broker" : labelOf(target),
    reason,
    isBelow: false,
  };
  const byMessages = partUsed(rate.messages, limit?.messages);
  const byBytes = partUsed(rate.bytes, limit?.bytes);
  if (limit?.bytes !== undefined && byBytes > byMessages)
    return {
      ...common,
      value: `${bytesText(rate.bytes)} / ${bytesText(limit.bytes)}`,
      part: byBytes,
    };
  if (limit?.messages === undefined) return { ...common, value: rateText(rate.messages) };
  const value = `${countText(rate.messages)} / ${countText(limit.messages)}`;
  return { ...common, value, part: byMessages };
}

function heldLine({ memory }: LiveGateway): ListedLimit {
  return {
    target: { kind: "held" },
    label: "held frames",
    value: `${bytesText(memory.used)} / ${bytesText(memory.max)}`,
    part: partUsed(memory.used, memory.max),
    isBelow: false,
  };
}

function partUsed(value: number, limit: number | undefined): number {
  return limit === undefined || limit <= 0 ? 0 : value / limit;
}

function sorted<T extends { readonly name: string; readonly limit?: unknown }>(
  all: readonly T[],
): readonly T[] {
  // Lines keep their place while rates change.
  const rank = ({ limit }: T): number => (limit === undefined ? 1 : 0);
  return all.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
