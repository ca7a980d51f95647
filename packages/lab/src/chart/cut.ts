import type { Series } from "./chart.ts";
import { element, round } from "./draw/markup.ts";
import { formatNumber } from "./number-format.ts";
import { strokeOf } from "./draw/palette.ts";
import type { Place, Plot } from "./plot.ts";

/** Pixels between arrows; closer ones would overlap and are left out. */
const ARROW_DISTANCE = 14;

/** An arrow at the upper edge for each stretch of each series that is cut off there. */
export function cutArrows(plot: Plot, place: Place): string[] {
  return plot.series.flatMap((series, index) => {
    const shown = stretchesAbove(series, plot).map((stretch) => {
      const from = Math.max(0, place.x(stretch.from));
      const to = Math.min(place.width, place.x(stretch.to));
      return (from + to) / 2;
    });
    let last = -Infinity;
    const path = shown
      .filter((middle) => {
        if (middle < 0 || middle > place.width || middle - last < ARROW_DISTANCE) return false;
        last = middle;
        return true;
      })
      .map((middle) => `M${round(middle)} 2l5 8h-10Z`);
    return path.length === 0
      ? []
      : [element("path", { d: path.join(""), fill: strokeOf(index).colour })];
  });
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

function stretchesAbove({ shape, points }: Series, plot: Plot): Stretch[] {
  const stretches: Stretch[] = [];
  let from: number | undefined;
  let last = 0;
  for (const { x, y } of points) {
    const isAbove = y !== undefined && y > plot.y.range.to;
    if (from !== undefined && !isAbove) {
      stretches.push({ from, to: shape === "line" ? last : x });
      from = undefined;
    }
    if (isAbove) from ??= x;
    last = x;
  }
  if (from !== undefined) stretches.push({ from, to: last + (shape === "line" ? 0 : plot.slot) });
  return stretches;
}

/** Says what is cut off at the upper edge; empty if nothing is. */
export function aboveNote(plot: Plot): string {
  const y = plot.y.range.to;
  const points = plot.series.flatMap((series) => series.points);
  const peak = points.reduce((most, point) => Math.max(most, point.y ?? most), y);
  const above = plot.series.filter((series) => series.points.some((point) => (point.y ?? y) > y));
  if (above.length === 0) return "";
  const names = above.map(({ label }) => label).join(" and ");
  const subject = above.length > 2 ? `${above.length} series` : names;
  return `▲ ${subject} above ${formatNumber(y)} cut off, up to ${formatNumber(peak)}`;
}

/** Says what is cut off at the end of the x axis, in any of the panels; empty if nothing is. */
export function beyondNote(plots: readonly Plot[]): string {
  const plot = plots.find(({ x, series }) =>
    series.some(({ points }) => points.some((point) => point.x > x.range.to)),
  );
  if (plot === undefined) return "";
  return `${plot.x.axis.label} beyond ${formatNumber(plot.x.range.to)} cut off`;
}
