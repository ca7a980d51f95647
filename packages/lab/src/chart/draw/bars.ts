import type { Point, Series } from "../chart.ts";
import { element, round } from "./markup.ts";
import type { Stroke } from "./palette.ts";
import type { Place } from "../plot.ts";

export const BAR_OPACITY = 0.45;

/** Pixels of a bar above or below zero, so that a small amount can be told from none. */
const BAR_HEIGHT_MIN = 1;

/** Slots from this width on have a gap between their bars; narrower ones would look striped. */
const GAP_FROM = 8;

/** Where in its slot a bar stands, in pixels. */
export interface BarPlace {
  readonly offset: number;
  readonly width: number;
}

/** One path for all bars, so that bars that overlap do not add up to a darker colour. */
export function barMark(
  points: readonly Point[],
  place: Place,
  look: { readonly stroke: Stroke; readonly bar: BarPlace },
): string {
  const zero = round(place.y(0));
  let path = "";
  let lastRight: number | undefined;
  for (const { x, y } of points) {
    if (y === undefined || y === 0) continue;
    const left = round(place.x(x) + look.bar.offset);
    const right = round(place.x(x) + look.bar.offset + look.bar.width);
    const end = place.y(y);
    const top = y > 0 ? Math.min(end, zero - BAR_HEIGHT_MIN) : Math.max(end, zero + BAR_HEIGHT_MIN);
    // Bars that touch become one area: renderers leave a seam between two.
    const touches = lastRight !== undefined && Math.abs(left - lastRight) < 0.05;
    if (!touches) path = `${close(path, zero)}M${left} ${zero}`;
    path += `V${round(top)}H${right}`;
    lastRight = right;
  }
  if (path === "") return "";
  const d = close(path, zero);
  return element("path", { d, fill: look.stroke.colour, "fill-opacity": BAR_OPACITY });
}

function close(path: string, zero: number): string {
  return path === "" ? "" : `${path}V${zero}Z`;
}

/** Bars of several series stand side by side, or over each other where the slot is too narrow. */
export function barPlaces(series: readonly Series[], slotWidth: number): BarPlace[] {
  const count = series.filter(({ shape }) => shape === "bar").length;
  const inset = slotWidth < GAP_FROM ? 0 : slotWidth * 0.1;
  const width = (slotWidth - 2 * inset) / Math.max(1, count);
  if (count > 1 && width < 2) {
    const whole = { offset: 0, width: slotWidth };
    return Array.from({ length: count }, () => whole);
  }
  return Array.from({ length: count }, (_, index) => ({ offset: inset + index * width, width }));
}
