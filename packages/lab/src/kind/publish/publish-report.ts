import { SECOND_MS } from "@sluice/core/internal";
import type { Point, Series } from "../../chart/chart.ts";
import type { LimitsBlock } from "../../file/limits/limits.ts";
import type { ProducerCounts } from "../../publish/producer-counts.ts";
import type { PublishProducer } from "../../publish/publish-plan.ts";
import type { PublishResult } from "../../publish/run-publish.ts";
import { counted } from "../../report/words.ts";
import type { Run } from "../../scenario/kind.ts";
import { jainIndex, sum } from "../../simulation/fairness.ts";
import type { FileProducers } from "./publish-producers.ts";

/** Entries of the file with a line each in the chart; more could not be told apart. */
const LINES_MAX = 8;

interface PublishRow {
  readonly t: number;
  readonly offered: number;
  /** By the id of the file's entry, all its producers together. */
  readonly accepted: Readonly<Record<string, number>>;
}

/** Of all producers of one entry of the file. Null: there was nothing to measure. */
interface EntryStats {
  readonly offered: number;
  readonly accepted: number;
  readonly perSecond: number;
  readonly waiting: number;
  readonly waitMs: { readonly p50: number | null; readonly p99: number | null };
  readonly longestWaitMs: number;
  /** Evenness of what its producers got, 0 to 1. */
  readonly jain: number;
}

interface Stats {
  readonly producers: Readonly<Record<string, EntryStats>>;
  readonly connections: Readonly<
    Record<string, { readonly pausedMs: number; readonly heldBytesMax: number }>
  >;
}

interface Heading {
  readonly title: string;
  readonly turns: "fair" | "arrival";
  readonly file: readonly FileProducers[];
  readonly limits: LimitsBlock;
  readonly durationS: number;
}

/** The table and the chart of a run of kind publish. */
export function publishReport(
  { title, turns, file, limits, durationS }: Heading,
  producers: readonly PublishProducer[],
  result: PublishResult,
): Run {
  const entries = entriesOf(file, result.producers);
  const rows = Array.from({ length: durationS }, (_, t) => rowOf(entries, t));
  const stats = statsOf(entries, result, durationS);
  return {
    rows,
    stats,
    columns: [
      { name: "t", cell: (row) => String(rows[row]?.t) },
      { name: "offered", cell: (row) => String(rows[row]?.offered) },
      ...[...entries.keys()].map((id) => ({
        name: id,
        cell: (row: number) => String(rows[row]?.accepted[id]),
      })),
    ],
    closing: closingOf(stats),
    chart: () => ({
      title: title || "Publish",
      subtitle: `${counted(producers.length, "producer")}, ${turns === "fair" ? "fair turns" : "in the order of arrival"}`,
      x: { label: "time", unit: "s" },
      y: { label: "accepted", unit: "messages per second", ...topOf(limits, rows) },
      series: [
        ...acceptedSeries(rows, [...entries.keys()]),
        ...limitSeries(limits, durationS),
        {
          label: "asked",
          shape: "step",
          points: rows.map(({ t, offered }) => ({ x: t, y: offered })),
        },
      ],
      below: [
        {
          y: { label: "waiting", unit: "messages" },
          series: [...entries].slice(0, LINES_MAX).map(([id, counts]) => ({
            label: `${id} waiting`,
            shape: "line" as const,
            points: waitingPoints(counts, durationS),
          })),
        },
      ],
    }),
  };
}

/** A producer that asks for many times the limit would flatten everything else. */
function topOf(limits: LimitsBlock, rows: readonly PublishRow[]): { readonly max?: number } {
  const limit = largestLimit(limits);
  const accepted = Math.max(...rows.map((row) => sum(Object.values(row.accepted))), 1);
  return limit === undefined ? {} : { max: 1.5 * Math.max(limit, accepted) };
}

function largestLimit({ topics, broker }: LimitsBlock): number | undefined {
  const rates = [...Object.values(topics), broker].flatMap((limit) => limit?.messages ?? []);
  return rates.length === 0 ? undefined : Math.max(...rates);
}

function entriesOf(
  file: readonly FileProducers[],
  counts: readonly ProducerCounts[],
): Map<string, readonly ProducerCounts[]> {
  let from = 0;
  return new Map(file.map(({ id, count }) => [id, counts.slice(from, (from += count))] as const));
}

function rowOf(entries: ReadonlyMap<string, readonly ProducerCounts[]>, t: number): PublishRow {
  const accepted = [...entries].map(
    ([id, counts]) => [id, sum(counts.map((each) => each.accepted[t] ?? 0))] as const,
  );
  const offered = [...entries.values()].flat().map((each) => each.offered[t] ?? 0);
  return { t, offered: sum(offered), accepted: Object.fromEntries(accepted) };
}

function statsOf(
  entries: ReadonlyMap<string, readonly ProducerCounts[]>,
  { connections }: PublishResult,
  durationS: number,
): Stats {
  const producers = [...entries].map(
    ([id, counts]) => [id, entryStats(counts, durationS)] as const,
  );
  const paused = [...connections].map(
    ([name, { pausedMs, heldBytesMax }]) =>
      [name, { pausedMs: rounded(pausedMs), heldBytesMax }] as const,
  );
  return {
    producers: Object.fromEntries(producers),
    connections: Object.fromEntries(paused),
  };
}

function entryStats(counts: readonly ProducerCounts[], durationS: number): EntryStats {
  const accepted = counts.map((each) => sum(each.accepted));
  const total = sum(accepted);
  const waits = counts.map((each) => each.waits.quantiles([0.5, 0.99]));
  return {
    offered: sum(counts.map((each) => sum(each.offered))),
    accepted: total,
    perSecond: rounded(total / durationS),
    waiting: sum(counts.map((each) => each.waiting)),
    waitMs: {
      p50: largestOf(waits.map(([p50]) => p50)),
      p99: largestOf(waits.map(([, p99]) => p99)),
    },
    longestWaitMs: rounded(Math.max(...counts.map((each) => each.longestWaitMs))),
    jain: rounded(jainIndex(accepted)),
  };
}

/** Of several producers the one that is worst off. */
function largestOf(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : rounded(Math.max(...known));
}

function acceptedSeries(rows: readonly PublishRow[], ids: readonly string[]): Series[] {
  if (ids.length > LINES_MAX)
    return [
      {
        label: "accepted",
        shape: "bar",
        points: rows.map(({ t, accepted }) => ({ x: t, y: sum(Object.values(accepted)) })),
      },
    ];
  return ids.map((id, index) => ({
    label: id,
    shape: index === 0 ? "bar" : "step",
    points: rows.map(({ t, accepted }) => ({ x: t, y: accepted[id] })),
  }));
}

function limitSeries({ topics, broker }: LimitsBlock, durationS: number): Series[] {
  const level = (label: string, y: number | undefined): Series[] =>
    y === undefined
      ? []
      : [
          {
            label,
            shape: "step",
            points: [
              { x: 0, y },
              { x: durationS, y },
            ],
          },
        ];
  const named = Object.entries(topics);
  return [
    ...named
      .slice(0, LINES_MAX)
      .flatMap(([topic, { messages }]) =>
        level(named.length === 1 ? "limit" : `limit of ${topic}`, messages),
      ),
    ...level("limit of the broker", broker?.messages),
  ];
}

function waitingPoints(counts: readonly ProducerCounts[], durationS: number): Point[] {
  let waiting = 0;
  return Array.from({ length: durationS }, (_, t) => {
    for (const { offered, accepted } of counts) waiting += (offered[t] ?? 0) - (accepted[t] ?? 0);
    return { x: t + 1, y: waiting };
  });
}

function closingOf({ producers, connections }: Stats): string {
  const lines = Object.entries(producers).map(([id, each]) => {
    const wait = each.waitMs.p50 === null ? "" : `, half within ${each.waitMs.p50.toFixed(1)} ms`;
    const rest = each.waiting === 0 ? "" : `, ${each.waiting} wait at the end`;
    return `producer ${id}: ${each.accepted} of ${each.offered} accepted, ${each.perSecond.toFixed(1)} a second${wait}, the longest wait ${(each.longestWaitMs / SECOND_MS).toFixed(1)} s${rest}`;
  });
  const paused = Object.entries(connections).filter(([, { pausedMs }]) => pausedMs > 0);
  return [
    ...lines,
    ...paused.map(
      ([name, { pausedMs, heldBytesMax }]) =>
        `connection ${name}: not read for ${Math.round(pausedMs)} ms, held ${heldBytesMax} bytes at most`,
    ),
  ].join("\n");
}

/** To three digits after the point: sums of doubles differ in their last digits. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
