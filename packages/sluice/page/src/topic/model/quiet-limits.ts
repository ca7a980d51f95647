import type { LiveGateway, LiveLimit } from "../../../../src/live/live-message.ts";
import type { Target } from "./target.ts";

/** A limit as `/api/limits` lists it. */
export interface SetLimit {
  readonly level: string;
  /** Of a topic the full name. */
  readonly name?: string;
  readonly messages: number | null;
  readonly bytes: number | null;
  /** Its line in the flow file, or when it was set while the gateway ran. */
  readonly place?: string;
  readonly setAt?: string;
}

/** Quiet topics that are listed; a flow with more shows the first. */
const QUIET_MAX = 50;
const QUIET = {
  rate: { messages: 0, bytes: 0 },
  asked: 0,
  isAskedAtLeast: false,
} as const;

/** Adds topics and groups that have a limit and no producer: samples have only those with traffic. */
export function withQuiet(gateway: LiveGateway, set: readonly SetLimit[]): LiveGateway {
  const topics = new Set(gateway.topics.map(({ name }) => name));
  const groups = new Set(gateway.groups.map(({ name }) => name));
  const quiet = (
    level: string,
    busy: ReadonlySet<string>,
  ): readonly (readonly [string, LiveLimit])[] =>
    set
      .filter((one) => one.level === level)
      .map((one) => [shortName(one.name ?? ""), limitOf(one)] as const)
      .filter(([name]) => !busy.has(name))
      .slice(0, QUIET_MAX);
  return {
    ...gateway,
    topics: [
      ...gateway.topics,
      ...quiet("topic", topics).map(([name, limit]) => ({
        ...QUIET,
        name,
        limit,
        producers: 0,
        waiting: 0,
        groups: [],
      })),
    ],
    groups: [
      ...gateway.groups,
      ...quiet("group", groups).map(([name, limit]) => ({ ...QUIET, name, limit, topics: 0 })),
    ],
  };
}

/** Where the limit of a target is set. */
export function setLimitOf(target: Target, set: readonly SetLimit[]): SetLimit | undefined {
  return set.find(
    ({ level, name }) =>
      level === target.kind && (!("name" in target) || shortName(name ?? "") === target.name),
  );
}

function limitOf({ messages, bytes }: SetLimit): LiveLimit {
  return { ...(messages !== null && { messages }), ...(bytes !== null && { bytes }) };
}

function shortName(name: string): string {
  return name.replace(/^persistent:\/\//, "");
}
