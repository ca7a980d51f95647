import type { Axis, Chart, Panel, Point, Series } from "./chart.ts";
import { formatTicks } from "./number-format.ts";
import { linearScale, spreadRange, ticksOver } from "./scale.ts";
import type { Range, Scale } from "./scale.ts";
import { thinPoints } from "./thinning.ts";

/** A panel's data in order, thinned, and with the ranges of values its axes show. */
export interface Plot {
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly series: readonly Series[];
  /** How long the last step holds and the room for the bars of one x, as a distance of x. */
  readonly slot: number;
}

export interface PlotAxis {
  readonly axis: Axis;
  readonly range: Range;
  readonly ticks: readonly Tick[];
}

interface Tick {
  readonly value: number;
  readonly label: string;
}

/** Where a plot's values are drawn. */
export interface Place {
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly y: Scale;
}

/** Fewer if their labels are long. */
const X_TICKS_MAX = [10, 7, 5] as const;
const X_LABELS_LENGTH_MAX = 70;
const Y_TICKS_MAX = 7;

/** The panels from top to bottom. */
export function plotsOf(chart: Chart): Plot[] {
  const panels = [chart, ...(chart.below ?? [])].map(orderPanel);
  const x = xAxisOf(panels, chart.x);
  return panels.map((panel) => {
    const series = panel.series.map((one) => ({ ...one, points: thinPoints(one.points, x.range) }));
    const slot = panel.distance ?? (x.range.to - x.range.from) / 10;
    return { x, y: yAxisOf(series, panel.y), series, slot };
  });
}

interface OrderedPanel extends Panel {
  /** The least between two x of a series; undefined if there are no two. */
  readonly distance: number | undefined;
}

function orderPanel({ y, series }: Panel): OrderedPanel {
  const ordered = series.map((one) => ({ ...one, points: orderPoints(one.points) }));
  return { y, series: ordered, distance: distanceMin(ordered) };
}

export function placeIn(plot: Plot, width: number, height: number): Place {
  return {
    width,
    height,
    x: linearScale(plot.x.range, { from: 0, to: width }),
    y: linearScale(plot.y.range, { from: height, to: 0 }),
  };
}

function orderPoints(points: readonly Point[]): readonly Point[] {
  // Nearly always so, and a copy of a million points is most of the time a chart takes.
  if (points.every(isInOrder)) return points;
  return points
    .filter(({ x }) => Number.isFinite(x))
    .map((point) => (Number.isFinite(point.y) ? point : { x: point.x, y: undefined }))
    .toSorted((a, b) => a.x - b.x);
}

function isInOrder({ x, y }: Point, index: number, points: readonly Point[]): boolean {
  if (!Number.isFinite(x) || (y !== undefined && !Number.isFinite(y))) return false;
  return x >= (points[index - 1]?.x ?? x);
}

function distanceMin(series: readonly Series[]): number | undefined {
  let least = Infinity;
  for (const { shape, points } of series) {
    if (shape === "line") continue;
    for (let index = 1; index < points.length; index++) {
      const distance = (points[index]?.x ?? 0) - (points[index - 1]?.x ?? 0);
      if (distance > 0) least = Math.min(least, distance);
    }
  }
  return Number.isFinite(least) ? least : undefined;
}

function xAxisOf(panels: readonly OrderedPanel[], axis: Axis): PlotAxis {
  let [from, to] = [Infinity, -Infinity];
  for (const { series, distance = 0 } of panels) {
    for (const { shape, points } of series) {
      from = Math.min(from, points[0]?.x ?? Infinity);
      to = Math.max(to, (points.at(-1)?.x ?? -Infinity) + (shape === "line" ? 0 : distance));
    }
  }
  if (from > to) [from, to] = [0, 0];
  const range = spreadRange({ from, to: endOf(axis, from) ?? to });

  const choices = X_TICKS_MAX.map((countMax) => labelTicks(ticksOver(range, countMax)));
  const ticks = choices.find(isRoomy) ?? choices.at(-1) ?? [];
  return {
    axis,
    range,
    ticks: ticks.filter(({ value }) => value >= range.from && value <= range.to),
  };
}

function yAxisOf(series: readonly Series[], axis: Axis): PlotAxis {
  let [from, to] = [0, 0];
  for (const { y } of series.flatMap(({ points }) => points)) {
    if (y === undefined) continue;
    from = Math.min(from, y);
    to = Math.max(to, y);
  }
  const end = endOf(axis, from);
  const range = spreadRange({ from, to: end ?? to });
  const values = ticksOver(range, Y_TICKS_MAX);
  const top = end === undefined ? (values.at(-1) ?? range.to) : range.to;
  return {
    axis,
    range: { from: values[0] ?? range.from, to: top },
    ticks: labelTicks(values).filter(({ value }) => value <= top),
  };
}

function isRoomy(ticks: readonly Tick[]): boolean {
  return ticks.reduce((length, { label }) => length + label.length + 1, 0) <= X_LABELS_LENGTH_MAX;
}

/** An axis cannot end before it begins; such a `max` is no help and left aside. */
function endOf(axis: Axis, from: number): number | undefined {
  return axis.max !== undefined && axis.max > from ? axis.max : undefined;
}

function labelTicks(values: readonly number[]): Tick[] {
  const labels = formatTicks(values);
  return values.map((value, index) => ({ value, label: labels[index] ?? "" }));
}
