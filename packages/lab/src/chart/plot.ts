import type { Axis, Chart, Panel, Point, Series } from "./chart.ts";
import { formatTicks } from "./number-format.ts";
import { FONT } from "./draw/palette.ts";
import { linearScale, spreadRange, ticksOver } from "./scale.ts";
import type { Range, Scale } from "./scale.ts";
import { textWidth } from "./draw/text-width.ts";
import { thinPoints } from "./thinning.ts";

/** A panel's data in order, thinned, and with the ranges of values its axes show. */
export interface Plot {
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly series: readonly Series[];
  /** Distance of x that the last step holds and that the bars of one x share. */
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

/** Most ticks of x: the first number whose labels have room. */
const X_TICKS_MAX = [10, 7, 5] as const;
/** Pixels from one label of x to the next, at least. */
const X_LABEL_GAP = 18;
const Y_TICKS_MAX = 7;

/** The panels from top to bottom, for a plot about `width` pixels wide. */
export function plotsOf(chart: Chart, width: number): Plot[] {
  const panels = [chart, ...(chart.below ?? [])].map(orderPanel);
  const x = xAxisOf(panels, chart, width);
  return panels.map((panel) => {
    const series = panel.series.map((one) => ({ ...one, points: thinPoints(one.points, x.range) }));
    const slot = panel.distance ?? (x.range.to - x.range.from) / 10;
    return { x, y: yAxisOf(series, panel.y), series, slot };
  });
}

interface OrderedPanel extends Panel {
  /** Smallest distance between two x of a step or bar series; undefined if there are no two. */
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
  // Points are nearly always in order, and copying a million of them takes longer than all the rest.
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

function xAxisOf(
  panels: readonly OrderedPanel[],
  { x: axis, markers = [] }: Chart,
  width: number,
): PlotAxis {
  let [from, to] = [Infinity, -Infinity];
  for (const { series, distance = 0 } of panels) {
    for (const { shape, points } of series) {
      from = Math.min(from, points[0]?.x ?? Infinity);
      to = Math.max(to, (points.at(-1)?.x ?? -Infinity) + (shape === "line" ? 0 : distance));
    }
  }
  for (const { x } of markers)
    if (Number.isFinite(x)) [from, to] = [Math.min(from, x), Math.max(to, x)];
  if (from > to) [from, to] = [0, 0];
  const range = spreadRange({ from, to: endOf(axis, from) ?? to });

  const choices = X_TICKS_MAX.map((countMax) => labelTicks(ticksFor(axis, range, countMax)));
  const ticks = choices.find((each) => isRoomy(each, width)) ?? choices.at(-1) ?? [];
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
  const values = ticksFor(axis, range, Y_TICKS_MAX);
  const top = end === undefined ? (values.at(-1) ?? range.to) : range.to;
  return {
    axis,
    range: { from: values[0] ?? range.from, to: top },
    ticks: labelTicks(values).filter(({ value }) => value <= top),
  };
}

function ticksFor({ isWhole = false }: Axis, range: Range, countMax: number): number[] {
  return ticksOver(range, countMax, isWhole ? 1 : 0);
}

function isRoomy(ticks: readonly Tick[], width: number): boolean {
  const needed = ticks.reduce(
    (sum, { label }) => sum + textWidth(label, FONT.label) + X_LABEL_GAP,
    0,
  );
  return needed <= width;
}

/** A `max` at or below the start of the axis is ignored. */
function endOf(axis: Axis, from: number): number | undefined {
  return axis.max !== undefined && axis.max > from ? axis.max : undefined;
}

function labelTicks(values: readonly number[]): Tick[] {
  const labels = formatTicks(values);
  return values.map((value, index) => ({ value, label: labels[index] ?? "" }));
}
