import type { LiveSample } from "../../../../src/live/live-message.ts";
import { askedOf } from "./prediction.ts";
import type { Target } from "./target.ts";

/** One producer's band in the stacked chart. */
interface Band {
  /** Undefined: all that have no band of their own. */
  readonly name: string | undefined;
  /** Messages a second at each sample. */
  readonly values: readonly number[];
}

/** What the chart has of the past: bands from the bottom up, and the limit and what was asked at each sample. */
export interface Stack {
  readonly atMs: readonly number[];
  readonly bands: readonly Band[];
  readonly limit: readonly (number | undefined)[];
  readonly asked: readonly (number | undefined)[];
}

/** Producers with a band of their own; more could not be told apart. */
export const BANDS_MAX = 5;

interface Instant {
  readonly total: number;
  readonly limit: number | undefined;
  readonly asked: number;
  readonly rates: ReadonlyMap<string, number>;
  /** What each asked for. */
  readonly wanted: ReadonlyMap<string, number>;
}

/** The producers that ask for least lie at the bottom, so that they stand still while the heaviest moves. */
export function stackOf(samples: readonly LiveSample[], target: Target): Stack {
  const instants = samples.map((sample) => instantOf(sample, target));
  const peaks = new Map<string, number>();
  for (const instant of instants)
    for (const [name, asked] of instant?.wanted ?? [])
      peaks.set(name, Math.max(peaks.get(name) ?? 0, asked));
  const names = [...peaks]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, BANDS_MAX)
    .map(([name]) => name)
    .toReversed();
  const own = names.map((name): Band => ({
    name,
    values: instants.map((one) => one?.rates.get(name) ?? 0),
  }));
  const others = instants.map((one, index) =>
    Math.max(0, (one?.total ?? 0) - own.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  );
  const isThere = peaks.size > BANDS_MAX || names.length === 0;
  return {
    atMs: samples.map(({ atMs }) => atMs),
    bands: isThere ? [{ name: undefined, values: others }, ...own] : own,
    limit: instants.map((one) => one?.limit),
    asked: instants.map((one) => one?.asked),
  };
}

function instantOf({ gateway }: LiveSample, target: Target): Instant | undefined {
  if (gateway === undefined) return undefined;
  const found =
    target.kind === "topic"
      ? gateway.topics.find(({ name }) => name === target.name)
      : target.kind === "group"
        ? gateway.groups.find(({ name }) => name === target.name)
        : gateway;
  if (found === undefined) return undefined;
  const isIts = memberOf(gateway.topics, target);
  const rates = new Map<string, number>();
  const wanted = new Map<string, number>();
  for (const producer of gateway.producers) {
    const { name, topic, rate } = producer;
    if (!isIts(topic)) continue;
    rates.set(name, (rates.get(name) ?? 0) + rate);
    wanted.set(name, (wanted.get(name) ?? 0) + askedOf(producer));
  }
  return {
    total: found.rate.messages,
    limit: found.limit?.messages,
    asked: found.asked,
    rates,
    wanted,
  };
}

function memberOf(
  topics: readonly { readonly name: string; readonly groups: readonly string[] }[],
  target: Target,
): (topic: string) => boolean {
  if (target.kind === "topic") return (topic) => topic === target.name;
  if (target.kind !== "group") return () => true;
  const names = new Set(
    topics.filter(({ groups }) => groups.includes(target.name)).map(({ name }) => name),
  );
  return (topic) => names.has(topic);
}
