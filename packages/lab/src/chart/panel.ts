import { columnsMarkup, footMarkup, rowsMarkup } from "./axes.ts";
import { cutArrows } from "./cut.ts";
import { element, textElement } from "./markup.ts";
import { barMark, barPlaces, lineMark, stepMark } from "./marks.ts";
import { FONT_SIZE, INK, strokeOf } from "./palette.ts";
import type { Place, Plot } from "./plot.ts";

/** Lines along an edge and dots on it are drawn whole. */
const EDGE = 3;

/** What a panel shows of the x axis that all panels share. */
export interface PanelLook {
  readonly hasColumns: boolean;
  readonly hasFoot: boolean;
}

/** The axes and the data, with the upper left corner of the plot as the origin. */
export function panelMarkup(plot: Plot, place: Place, look: PanelLook): string[] {
  const marks = data(plot, place);
  return [
    // Beneath the rows, so that the line of zero is whole.
    ...(look.hasColumns ? columnsMarkup(plot, place) : []),
    ...rowsMarkup(plot, place),
    ...(look.hasFoot ? footMarkup(plot, place) : []),
    clipped(place, marks),
    ...(marks.length === 0 ? [emptyNote(place)] : []),
  ];
}

/** Bars lie behind everything else. */
function data(plot: Plot, place: Place): string[] {
  const slotWidth = place.x(plot.x.range.from + plot.slot) - place.x(plot.x.range.from);
  const bars = barPlaces(plot.series, slotWidth);
  const back: string[] = [];
  const front: string[] = [];
  for (const [index, { shape, points }] of plot.series.entries()) {
    const stroke = strokeOf(index);
    const bar = bars[back.length];
    if (shape === "bar" && bar !== undefined) back.push(barMark(points, place, { stroke, bar }));
    if (shape === "step") front.push(stepMark(points, place, { stroke, slot: plot.slot }));
    if (shape === "line") front.push(lineMark(points, place, stroke));
  }
  return [...back, ...front, ...cutArrows(plot, place)].filter((mark) => mark !== "");
}

/** An inner document clips without an id, which would clash with that of a second chart in a page. */
function clipped(place: Place, children: readonly string[]): string {
  const [width, height] = [place.width + 2 * EDGE, place.height + 2 * EDGE];
  const viewBox = `${-EDGE} ${-EDGE} ${width} ${height}`;
  return element("svg", { x: -EDGE, y: -EDGE, width, height, viewBox }, children);
}

function emptyNote(place: Place): string {
  return textElement("no data", {
    x: place.width / 2,
    y: place.height / 2,
    fill: INK.text,
    "font-size": FONT_SIZE.subtitle,
    "text-anchor": "middle",
  });
}
