import { SECOND_MS } from "@sluice/core/internal";
import type { Marker, Panel, Point, Series } from "../../chart/chart.ts";
import type { FlowEvent, FlowPlan } from "../../flow/flow-plan.ts";
import { flowStats } from "../../flow/flow-stats.ts";
import type { FlowStats } from "../../flow/flow-stats.ts";
import type { FlowResult } from "../../flow/run-flow.ts";
import { counted } from "../../report/words.ts";
import type { Run } from "../../scenario/kind.ts";

/** Topics and connections with a line each in the chart; more could not be told apart. */
const LINES_MAX = 8;

interface FlowRow {
  readonly t: number;
  readonly accepted: Readonly<Record<string, number>>;
}

/** The table and the chart of a run of kind flow. */
export function flowReport(
  plan: FlowPlan,
  result: FlowResult,
  { title, nameOf }: { readonly title: string; readonly nameOf: (topic: string) => string },
): Run {
  const stats = flowStats(plan, result, nameOf);
  const rows = rowsOf(result, plan.durationS, nameOf);
  return {
    rows,
    stats,
    columns: [
      { name: "t", cell: (row) => String(rows[row]?.t) },
      ...[...result.topics.keys()].map(nameOf).map((topic) => ({
        name: topic,
        cell: (row: number) => String(rows[row]?.accepted[topic]),
      })),
    ],
    closing: closingOf(stats),
    chart: () => ({
      title: title || "Flow",
      subtitle: `${counted(plan.producers.length, "producer")}, round trip ${plan.rttMs} ms, stored after ${plan.storeLatencyMs} ms; a limit is drawn while there is one`,
      x: { label: "time", unit: "s" },
      y: { label: "accepted", unit: "messages per second" },
      series: acceptedSeries(result, plan.durationS, nameOf),
      below: [pausesPanel(result)],
      markers: plan.events.map((event) => markerOf(event, nameOf)),
    }),
  };
}

function rowsOf(
  { topics }: FlowResult,
  durationS: number,
  nameOf: (topic: string) => string,
): FlowRow[] {
  return Array.from({ length: durationS }, (_, second) => ({
    t: second,
    accepted: Object.fromEntries(
      [...topics].map(([topic, meter]) => [nameOf(topic), meter.perSecond[second] ?? 0]),
    ),
  }));
}

function closingOf({ producers, connections, topics, memoryBytesMax }: FlowStats): string {
  const lines = [
    ...Object.entries(topics).map(([name, { perSecond, maxSecondRatio, jain }]) => {
      const most =
        maxSecondRatio === null
          ? "no limit"
          : `at most ${maxSecondRatio.toFixed(3)} of the limit in a second`;
      const fair = jain === null ? "" : `, fairness ${jain.toFixed(3)}`;
      return `topic ${name}: ${perSecond.toFixed(1)} messages a second, ${most}${fair}`;
    }),
    ...Object.entries(producers).map(([id, { accepted, failed, perSecond, ...more }]) => {
      const { waitMs, throttledMs, notices, receipts } = more;
      const told = notices === 0 ? "" : `, ${counted(notices, "notice")}, ${receipts} answered`;
      return `producer ${id}: ${accepted} accepted, ${failed} failed, ${perSecond.toFixed(1)} a second, ${waitText(waitMs)}${throttledText(throttledMs)}${told}`;
    }),
    ...Object.entries(connections).map(
      ([name, { pausedMs, heldBytesMax }]) =>
        `connection ${name}: not read for ${Math.round(pausedMs)} ms, held ${heldBytesMax} bytes at most`,
    ),
    `memory: ${memoryBytesMax} bytes at most`,
  ];
  return lines.join("\n");
}

function waitText({
  p50,
  p99,
}: {
  readonly p50: number | null;
  readonly p99: number | null;
}): string {
  if (p50 === null || p99 === null) return "no receipt";
  return `receipts after ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}

function throttledText(throttledMs: Readonly<Record<string, number>>): string {
  const parts = Object.entries(throttledMs).map(
    ([reason, ms]) => `${(ms / SECOND_MS).toFixed(1)} s for ${reason}`,
  );
  return parts.length === 0 ? "" : `, throttled ${parts.join(", ")}`;
}

function acceptedSeries(
  { topics }: FlowResult,
  durationS: number,
  nameOf: (topic: string) => string,
): Series[] {
  const shown = [...topics].slice(0, LINES_MAX);
  return shown.flatMap(([topic, { perSecond, limit }]) => {
    const name = nameOf(topic);
    // A second's messages stand in its middle.
    const points = perSecond
      .slice(0, durationS)
      .map((count, second) => ({ x: second + 0.5, y: count }));
    const accepted: Series = { label: name, shape: "line", points };
    const limits = limitPoints(limit.changes, durationS);
    if (limits.every(({ y }) => y === undefined)) return [accepted];
    return [accepted, { label: `limit of ${name}`, shape: "step", points: limits }];
  });
}

function limitPoints(
  changes: readonly { readonly atMs: number; readonly perSecond: number | undefined }[],
  durationS: number,
): Point[] {
  const limitAt = (atMs: number): number | undefined =>
    changes.findLast((change) => change.atMs <= atMs)?.perSecond;
  // A step is as long as the shortest one of its panel, so that the last one ends with the run.
  const seconds = Array.from({ length: durationS }, (_, second) => second * SECOND_MS);
  const times = new Set([...seconds, ...changes.map(({ atMs }) => atMs)]);
  return [...times]
    .toSorted((a, b) => a - b)
    .map((atMs) => ({ x: atMs / SECOND_MS, y: limitAt(atMs) }));
}

/** Of the connections that were paused most. */
function pausesPanel({ connections }: FlowResult): Panel {
  const paused = [...connections].toSorted(([, a], [, b]) => b.pausedMs - a.pausedMs);
  return {
    y: { label: "not read", unit: "ms per second", max: SECOND_MS },
    series: paused.slice(0, LINES_MAX).map(([name, { pausedPerSecond }]) => ({
      label: `connection ${name}`,
      shape: "step",
      points: pausedPerSecond.map((ms, second) => ({ x: second, y: ms })),
    })),
  };
}

function markerOf({ atMs, action }: FlowEvent, nameOf: (topic: string) => string): Marker {
  const x = atMs / SECOND_MS;
  if (action.do === "leave") return { x, label: `${action.producer} leaves` };
  if (action.do === "ignore") return { x, label: `${action.producer} ignores notices` };
  const { topics, groups, broker } = action.limits;
  const names = [
    ...Object.keys(topics).map(nameOf),
    ...Object.keys(groups),
    ...(broker === undefined ? [] : ["broker"]),
  ];
  return { x, label: `limit of ${names.join(", ")}` };
}
