import { SECOND_MS } from "@sluice/core/internal";
import type { Marker, Panel, Point, Series } from "../../chart/chart.ts";
import type { PoolAction, PoolEvent } from "../../pool/pool-action.ts";
import { rounded } from "../../pool/pool-run.ts";
import type { PoolRow, PoolRunResult } from "../../pool/pool-run.ts";
import type { Run } from "../../scenario/kind.ts";

/** Most members with a line each; with more the chart shows only the largest share. */
const LINES_MAX = 8;

/** What a run of a pool comes to. Sums are parts of the ceiling; null: that never was. */
interface Stats {
  readonly maxSumRatio: number;
  readonly maxWindowRatio: number;
  readonly minSumRatio: number | null;
  readonly meanSumRatio: number | null;
  readonly joinerWaitS: number | null;
  readonly settledAfterS: readonly (number | null)[];
}

/** The table and the chart of a run of kind pool. */
export function poolReport(
  result: PoolRunResult,
  events: readonly PoolEvent[],
  heading: { readonly title: string; readonly subtitle: string },
): Run {
  const { rows } = result;
  const stats = statsOf(result);
  return {
    rows,
    stats,
    columns: [
      { name: "t", cell: (row) => String(rows[row]?.t) },
      { name: "live", cell: (row) => String(rows[row]?.live) },
      { name: "sum", cell: (row) => String(rows[row]?.sum) },
      { name: "size in use", cell: (row) => sizesOf(rows[row]) },
      { name: "share by member", cell: (row) => sharesOf(rows[row]) },
    ],
    closing: closingOf(stats, events),
    chart: () => ({
      ...heading,
      x: { label: "time", unit: "s" },
      y: { label: "tokens", unit: "per second" },
      series: [
        { label: "granted", shape: "bar", points: grantedPoints(result) },
        {
          label: "sum of shares",
          shape: "step",
          points: rows.map(({ t, sum }) => ({ x: t, y: sum })),
        },
        {
          label: "ceiling",
          shape: "step",
          points: rows.map(({ t }, row) => ({ x: t, y: result.ceilings[row] })),
        },
      ],
      below: [sharesPanel(rows), sizesPanel(rows)],
      markers: events.map(markerOf),
    }),
  };
}

function statsOf({ figures, settledAfterMs }: PoolRunResult): Stats {
  const { most, mostGranted, least, mean, waitMs } = figures;
  return {
    maxSumRatio: rounded(most),
    maxWindowRatio: rounded(mostGranted),
    minSumRatio: least === undefined ? null : rounded(least),
    meanSumRatio: mean === undefined ? null : rounded(mean),
    joinerWaitS: Number.isFinite(waitMs) ? rounded(waitMs / SECOND_MS) : null,
    settledAfterS: settledAfterMs.map((ms) => (ms === undefined ? null : rounded(ms / SECOND_MS))),
  };
}

function markerOf({ atMs, action }: PoolEvent): Marker {
  const x = atMs / SECOND_MS;
  const label = labelOf(action);
  return "forMs" in action ? { x, label, until: x + action.forMs / SECOND_MS } : { x, label };
}

/** What happens, to which process and for how long: `pause b 10 s`. */
function labelOf(action: PoolAction): string {
  const words = [action.do.replaceAll("-", " ")];
  if ("id" in action) words.push(action.id);
  if ("name" in action) words.push(action.name);
  if ("forMs" in action) words.push(`${action.forMs / SECOND_MS} s`);
  if ("byMs" in action) words.push(`${action.byMs < 0 ? "" : "+"}${action.byMs / SECOND_MS} s`);
  return words.join(" ");
}

/** The pool sizes that members divide by: one number once they agree. */
function sizesOf(row: PoolRow | undefined): string {
  const sizes = new Set(Object.values(row?.members ?? {}).map(({ size }) => size));
  return [...sizes].toSorted((a, b) => a - b).join(" or ");
}

function sharesOf(row: PoolRow | undefined): string {
  const members = Object.entries(row?.members ?? {});
  return members.map(([name, { share }]) => `${name}=${share}`).join("  ");
}

/** A row holds what was granted before it; a bar stands at the start of that time. */
function grantedPoints({ rows, granted }: PoolRunResult): Point[] {
  return rows.slice(0, -1).map(({ t }, row) => ({ x: t, y: granted[row + 1] }));
}

function sharesPanel(rows: readonly PoolRow[]): Panel {
  const names = [...new Set(rows.flatMap(({ members }) => Object.keys(members)))];
  const line = (name: string): Series => ({
    label: name,
    shape: "step",
    points: rows.map(({ t, members }) => ({ x: t, y: members[name]?.share })),
  });
  return {
    y: { label: "share", unit: "tokens per second" },
    series:
      names.length <= LINES_MAX
        ? names.map(line)
        : [{ label: "largest share", shape: "step", points: largest(rows, "share") }],
  };
}

function sizesPanel(rows: readonly PoolRow[]): Panel {
  return {
    y: { label: "members", isWhole: true },
    series: [
      { label: "largest size in use", shape: "step", points: largest(rows, "size") },
      { label: "live", shape: "step", points: rows.map(({ t, live }) => ({ x: t, y: live })) },
    ],
  };
}

function largest(rows: readonly PoolRow[], key: "size" | "share"): Point[] {
  return rows.map(({ t, members }) => ({
    x: t,
    y: Math.max(0, ...Object.values(members).map((member) => member[key])),
  }));
}

function closingOf(stats: Stats, events: readonly PoolEvent[]): string {
  const { maxSumRatio, maxWindowRatio, settledAfterS } = stats;
  const lines = events.map((event, index) => {
    const isLast = index === events.length - 1;
    const settled = settledAfterS[index] ?? null;
    const when =
      settled === null
        ? `not settled before the ${isLast ? "end of the run" : "next event"}`
        : `settled ${settled.toFixed(1)} s after ${"forMs" in event.action ? "its end" : "it"}`;
    return `${event.atMs / SECOND_MS} s, ${labelOf(event.action)}: ${when}`;
  });
  const most = `at most ${maxSumRatio.toFixed(3)} of the ceiling at any instant, ${maxWindowRatio.toFixed(3)} granted in any second`;
  return [most, sinceWhole(stats), ...lines].join("\n");
}

function sinceWhole({ minSumRatio, meanSumRatio, joinerWaitS }: Stats): string {
  if (minSumRatio === null || meanSumRatio === null)
    return "the shares were never the whole ceiling";
  const wait =
    joinerWaitS === null
      ? "a joiner still waits for its share"
      : `joiners waited for their share for ${joinerWaitS.toFixed(1)} s at most`;
  return `since the shares first were the whole ceiling: at least ${minSumRatio.toFixed(3)} of it, ${meanSumRatio.toFixed(3)} on average; ${wait}`;
}
