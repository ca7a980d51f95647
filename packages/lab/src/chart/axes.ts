import type { Axis } from "./chart.ts";
import { element, fitText, textElement } from "./markup.ts";
import type { Attributes } from "./markup.ts";
import { FONT_SIZE, INK } from "./palette.ts";
import type { Place, Plot } from "./plot.ts";

/** Between an axis and its tick labels. */
const LABEL_GAP = 8;

/** Grid lines, the line of zero, and the labels of y. */
export function rowsMarkup(plot: Plot, place: Place): string[] {
  return plot.y.ticks.flatMap(({ value, label }) => {
    const y = place.y(value);
    return [
      horizontal(y, place.width, value === 0 ? INK.axis : INK.grid),
      tickLabel(label, { x: -LABEL_GAP, y: y + 4, "text-anchor": "end" }),
    ];
  });
}

/** Grid lines that lead the eye from one panel to the next. */
export function columnsMarkup(plot: Plot, place: Place): string[] {
  return plot.x.ticks.map(({ value }) =>
    element("path", { d: `M${pixel(place.x(value))} 0v${place.height}`, stroke: INK.grid }),
  );
}

/** The ticks and labels of x. */
export function footMarkup(plot: Plot, place: Place): string[] {
  return plot.x.ticks.flatMap(({ value, label }) => {
    const x = place.x(value);
    return [
      element("path", { d: `M${pixel(x)} ${place.height}v4`, stroke: INK.axis }),
      tickLabel(label, { x, y: place.height + LABEL_GAP + 12, "text-anchor": "middle" }),
    ];
  });
}

function horizontal(y: number, width: number, stroke: string): string {
  return element("path", { d: `M0 ${pixel(y)}h${width}`, stroke });
}

/** Lines one pixel wide are crisp in the middle of a pixel. */
function pixel(position: number): number {
  return Math.floor(position) + 0.5;
}

function tickLabel(label: string, attributes: Attributes): string {
  return textElement(label, { ...attributes, fill: INK.text, "font-size": FONT_SIZE.label });
}

export function axisTitle(axis: Axis, width: number): string {
  const title = axis.unit === undefined ? axis.label : `${axis.label} (${axis.unit})`;
  return fitText(title, FONT_SIZE.label, width);
}
