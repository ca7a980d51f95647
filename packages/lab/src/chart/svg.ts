import { axesMarkup, axisTitle } from "./axes.ts";
import type { Chart } from "./chart.ts";
import { cutArrows, cutNote } from "./cut.ts";
import { legendOf } from "./legend.ts";
import { element, escapeText, fitText, textElement, textWidth } from "./markup.ts";
import { barMark, barPlaces, lineMark, stepMark } from "./marks.ts";
import { FONT_FAMILY, FONT_SIZE, INK, strokeOf } from "./palette.ts";
import { placeIn, plotOf } from "./plot.ts";
import type { Place, Plot, PlotAxis } from "./plot.ts";

const WIDTH = 800;
/** Of a chart with one row of legend; further rows add to it and take nothing from the plot. */
const HEIGHT = 420;
const MARGIN = 24;
/** Tick labels and the axis title. */
const FOOT = 58;
/** The row of the upper axis title. */
const HEAD = 36;
/** Lines along an edge and dots on it are drawn whole. */
const EDGE = 3;

/** The chart as an SVG document, the same bytes for the same chart. */
export function renderSvg(chart: Chart): string {
  const plot = plotOf(chart);
  const legend = legendOf(chart.series, WIDTH - 2 * MARGIN);
  const legendTop = chart.subtitle === undefined ? 48 : 68;
  const top = legendTop + legend.height + HEAD;
  const height = HEIGHT + Math.max(0, legend.height - 20);

  // The labels of x stand astride its ends.
  const overhang = Math.max(MARGIN, labelWidth(plot.x) / 2 + 8);
  const left = Math.ceil(Math.max(MARGIN + labelWidth(plot.y) + 8, overhang));
  const place = placeIn(plot, Math.floor(WIDTH - left - overhang), height - top - FOOT);
  const marks = data(plot, place);

  const children = [
    `<title>${escapeText(chart.title)}</title>`,
    element("rect", { width: WIDTH, height, rx: 8, fill: INK.paper }),
    ...heading(chart),
    element("g", { transform: `translate(${MARGIN} ${legendTop})` }, [legend.markup]),
    ...axisTitles(chart, plot, { top, middle: left + place.width / 2, bottom: height }),
    element("g", { transform: `translate(${left} ${top})` }, [
      ...axesMarkup(plot, place),
      clipped(place, marks),
      ...(marks.length === 0 ? [emptyNote(place)] : []),
    ]),
  ];
  const root = {
    xmlns: "http://www.w3.org/2000/svg",
    width: WIDTH,
    height,
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: "img",
    "font-family": FONT_FAMILY,
  };
  return `${element("svg", root, children)}\n`;
}

function labelWidth(axis: PlotAxis): number {
  return Math.max(...axis.ticks.map(({ label }) => textWidth(label, FONT_SIZE.label)));
}

function heading(chart: Chart): string[] {
  const width = WIDTH - 2 * MARGIN;
  const title = textElement(fitText(chart.title, FONT_SIZE.title, width), {
    x: MARGIN,
    y: 36,
    fill: INK.title,
    "font-size": FONT_SIZE.title,
    "font-weight": 600,
  });
  if (chart.subtitle === undefined) return [title];
  const subtitle = textElement(fitText(chart.subtitle, FONT_SIZE.subtitle, width), {
    x: MARGIN,
    y: 57,
    fill: INK.text,
    "font-size": FONT_SIZE.subtitle,
  });
  return [title, subtitle];
}

/** The upper title lies flat above its axis, where nobody has to tilt their head. */
function axisTitles(
  chart: Chart,
  plot: Plot,
  at: { readonly top: number; readonly middle: number; readonly bottom: number },
): string[] {
  const look = { fill: INK.text, "font-size": FONT_SIZE.label };
  const width = WIDTH - 2 * MARGIN;
  const yTitle = axisTitle(chart.y, width / 2);
  const xTitle = axisTitle(chart.x, width);
  const noteWidth = width - textWidth(yTitle, FONT_SIZE.label) - MARGIN;
  const note = fitText(cutNote(chart, plot), FONT_SIZE.label, noteWidth);
  return [
    textElement(yTitle, { ...look, x: MARGIN, y: at.top - 18 }),
    textElement(xTitle, { ...look, x: at.middle, y: at.bottom - 16, "text-anchor": "middle" }),
    ...(note === ""
      ? []
      : [textElement(note, { ...look, x: WIDTH - MARGIN, y: at.top - 18, "text-anchor": "end" })]),
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
