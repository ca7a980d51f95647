import { columnsMarkup, footMarkup, rowsMarkup } from "./draw/axes.ts";
import { barMark, barPlaces } from "./draw/bars.ts";
import { cutArrows } from "./cut.ts";
import { linesMarkup } from "./draw/lines.ts";
import { markerLabelsMarkup, markersMarkup } from "./draw/markers.ts";
import type { MarkerLabel, PlacedMarker } from "./draw/markers.ts";
import { element, textElement } from "./draw/markup.ts";
import { FONT, INK, strokeOf } from "./draw/palette.ts";
import type { Place, Plot } from "./plot.ts";

/** Pixels beyond the plot that data may cover, so that lines along an edge are drawn whole. */
const EDGE = 3;

/** What a panel shows of what all panels share. */
export interface PanelLook {
  readonly hasColumns: boolean;
  readonly hasFoot: boolean;
  readonly markers: readonly PlacedMarker[];
  /** Empty for all panels but the uppermost. */
  readonly markerLabels: readonly MarkerLabel[];
}

/** The axes and the data, with the upper left corner of the plot as the origin. */
export function panelMarkup(plot: Plot, place: Place, look: PanelLook): string[] {
  const marks = [...bars(plot, place), ...linesMarkup(plot, place), ...cutArrows(plot, place)];
  return [
    // Beneath the rows, so that the line of zero is whole.
    ...(look.hasColumns ? columnsMarkup(plot, place) : []),
    ...rowsMarkup(plot, place),
    ...(look.hasFoot ? footMarkup(plot, place) : []),
    ...markersMarkup(look.markers, place.height, look.markerLabels),
    ...markerLabelsMarkup(look.markerLabels),
    clipped(place, marks),
    ...(hasValue(plot) ? [] : [emptyNote(place)]),
  ];
}

function bars(plot: Plot, place: Place): string[] {
  const slotWidth = place.x(plot.x.range.from + plot.slot) - place.x(plot.x.range.from);
  const places = barPlaces(plot.series, slotWidth);
  return plot.series
    .map((series, index) => ({ ...series, stroke: strokeOf(index) }))
    .filter(({ shape }) => shape === "bar")
    .map(({ points, stroke }, rank) => {
      const bar = places[rank];
      return bar === undefined ? "" : barMark(points, place, { stroke, bar });
    })
    .filter((mark) => mark !== "");
}

function hasValue(plot: Plot): boolean {
  return plot.series.some(({ points }) => points.some(({ y }) => y !== undefined));
}

/**
 * An inner document clips without an id, which would clash with that of a second chart in a page.
 */
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
    "font-size": FONT.subtitle.size,
    "text-anchor": "middle",
  });
}
