import type { Axis } from "../chart.ts";
import { element, textElement } from "./markup.ts";
import type { Attributes } from "./markup.ts";
import { FONT, INK } from "./palette.ts";
import type { Place, Plot } from "../plot.ts";

/** Pixels between an axis and its tick labels. */
const LABEL_GAP = 8;

/** Horizontal grid lines, the line of zero, and the tick labels of y. */
export function rowsMarkup(plot: Plot, place: Place): string[] {
  return plot.y.ticks.flatMap(({ value, label }) => {
    const y = place.y(value);
    return [
      horizontal(y, place.width, value === 0 ? INK.axis : INK.grid),
      tickLabel(label, { x: -LABEL_GAP, y: y + 4, "text-anchor": "end" }),
    ];
  });
}

/** Vertical grid lines, which connect the panels. */
export function columnsMarkup(plot: Plot, place: Place): string[] {
  return plot.x.ticks.map(({ value }) =>
    element("path", { d: `M${pixel(place.x(value))} 0v${place.height}`, stroke: INK.grid }),
  );
}

/** The ticks and tick labels of x. */
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
  return textElement(label, { ...attributes, fill: INK.text, "font-size": FONT.label.size });
}

/** The label with its unit. */
export function axisTitle({ label, unit }: Axis): string {
  return unit === undefined ? label : `${label} (${unit})`;
}
