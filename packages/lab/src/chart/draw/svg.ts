import { axisTitle } from "./axes.ts";
import type { Chart } from "../chart.ts";
import { aboveNote, beyondNote } from "../cut.ts";
import { LEGEND_ROW, legendOf } from "./legend.ts";
import type { Legend } from "./legend.ts";
import { MARKER_ROW, markerLabels, placeMarkers } from "./markers.ts";
import type { MarkerLabel, PlacedMarker } from "./markers.ts";
import { element, escapeText, textElement } from "./markup.ts";
import { darkStyle, FONT, FONT_FAMILY, INK, ROOT_CLASS } from "./palette.ts";
import { panelMarkup } from "../panel.ts";
import { placeIn, plotsOf } from "../plot.ts";
import type { Place, Plot, PlotAxis } from "../plot.ts";
import { fitText, textWidth, wrapText } from "./text-width.ts";
import type { Font } from "./text-width.ts";

/** Narrower charts leave too little room between their labels. */
const WIDTH_MIN = 320;
/** Height of the plot, and of each plot where there are several. */
const PLOT_HEIGHT = 254;
const PLOT_HEIGHT_OF_SEVERAL = 140;
const PANEL_GAP = 26;
const MARGIN = 24;
const MARGIN_OF_NARROW = 14;
/** Charts from this width on have the wide margin. */
const NARROW = 600;
/** Tick labels and the title of the x axis. */
const FOOT = 58;
/** From a legend to the title of its y axis, and from that to the plot. */
const HEAD = 18;
/** From the title of the y axis to the labels of markers. */
const MARKER_GAP = 8;
/** Lines of the heading, the notes and the titles of axes. */
const TITLE_LINE = 22;
const SUBTITLE_LINE = 18;
const NOTE_LINE = 16;

export interface SvgOptions {
  /** Pixels, at least 320. Texts keep their size and are wrapped. Default: 800. */
  readonly width?: number;
}

/**
 * The chart as an SVG document, the same bytes for the same chart. Its colours follow the reader's
 * preference for light or dark pages.
 *
 * @example
 * const svg = renderSvg({
 *   title: "Queue depth after the deployment",
 *   x: { label: "time", unit: "s" },
 *   y: { label: "messages", isWhole: true },
 *   series: [{ label: "waiting", shape: "step", points: [{ x: 0, y: 3 }, { x: 5, y: 120 }] }],
 *   markers: [{ x: 4, label: "deployed" }],
 * });
 */
export function renderSvg(chart: Chart, { width = 800 }: SvgOptions = {}): string {
  const frame = frameOf(Math.max(WIDTH_MIN, width));
  const head = headingOf(chart, frame);
  const panels = layOut(chart, frame, head.bottom);
  const height = Math.max(...panels.map(({ bottom }) => bottom)) + FOOT;
  const children = [
    `<title>${escapeText(chart.title)}</title>`,
    `<style>${darkStyle()}</style>`,
    element("rect", { width: frame.width, height, rx: 8, fill: INK.paper }),
    ...head.markup,
    ...panels.flatMap((panel) => [
      element("g", { transform: `translate(${frame.margin} ${panel.legendTop})` }, [
        panel.legend.markup,
      ]),
      ...texts(panel, frame),
      element(
        "g",
        { transform: `translate(${panel.left} ${panel.top})` },
        panelMarkup(panel.plot, panel.place, {
          hasColumns: panels.length > 1,
          hasFoot: panel.isLowest,
          markers: panel.markers,
          markerLabels: panel.markerLabels,
        }),
      ),
    ]),
  ];
  const root = {
    xmlns: "http://www.w3.org/2000/svg",
    class: ROOT_CLASS,
    width: frame.width,
    height,
    viewBox: `0 0 ${frame.width} ${height}`,
    role: "img",
    "font-family": FONT_FAMILY,
  };
  return `${element("svg", root, children)}\n`;
}

interface Frame {
  readonly width: number;
  readonly margin: number;
  /** Between the margins. */
  readonly inner: number;
}

function frameOf(width: number): Frame {
  const margin = width < NARROW ? MARGIN_OF_NARROW : MARGIN;
  return { width, margin, inner: width - 2 * margin };
}

/** A panel and its place in the document. */
interface PlacedPanel {
  readonly plot: Plot;
  readonly place: Place;
  readonly legend: Legend;
  readonly legendTop: number;
  /** Baseline of the title of the y axis. */
  readonly titleY: number;
  /** Edges of the plot. */
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly isLowest: boolean;
  readonly notes: Notes;
  readonly markers: readonly PlacedMarker[];
  readonly markerLabels: readonly MarkerLabel[];
}

function layOut(chart: Chart, frame: Frame, from: number): PlacedPanel[] {
  const plots = plotsOf(chart, frame.inner);
  // The labels of x are centred on their ticks, so the outermost overhang the plot.
  const overhang = Math.max(frame.margin, ...plots.map(({ x }) => labelWidth(x) / 2 + 8));
  const room = Math.max(...plots.map(({ y }) => frame.margin + labelWidth(y) + 8));
  const left = Math.ceil(Math.max(room, overhang));
  const width = Math.floor(frame.width - left - overhang);

  let legendTop = from;
  return plots.map((plot, index) => {
    const legend = legendOf(plot.series, frame.inner);
    const isOne = plots.length === 1;
    // One panel has the same height with and without a legend.
    const missing = isOne ? Math.max(0, LEGEND_ROW - legend.height) : 0;
    const place = placeIn(plot, width, (isOne ? PLOT_HEIGHT : PLOT_HEIGHT_OF_SEVERAL) + missing);
    const markers = placeMarkers(chart.markers ?? [], place.x, width);
    const labels = index === 0 ? markerLabels(markers, width) : [];
    const rows = Math.max(0, ...labels.map(({ row }) => row + 1));
    const titleY = legendTop + legend.height + HEAD;
    const notes = notesOf(plot, index === 0 ? plots : [], frame);
    const noteLines = notes.isBeside ? 0 : notes.lines.length;
    const gap = rows === 0 ? HEAD : MARKER_GAP;
    const top = titleY + noteLines * NOTE_LINE + gap + rows * MARKER_ROW;
    const bottom = top + place.height;
    const isLowest = index === plots.length - 1;
    const edges = { legendTop, titleY, top, left, bottom, isLowest };
    legendTop = bottom + PANEL_GAP;
    return { plot, place, legend, ...edges, notes, markers, markerLabels: labels };
  });
}

function labelWidth(axis: PlotAxis): number {
  return Math.max(...axis.ticks.map(({ label }) => textWidth(label, FONT.label)));
}

interface Heading {
  readonly markup: string[];
  readonly bottom: number;
}

function headingOf({ title, subtitle }: Chart, { margin, inner }: Frame): Heading {
  const markup: string[] = [];
  let y = 14;
  const write = (text: string, font: Font, lineHeight: number, look: object): void => {
    for (const line of wrapText(text, font, inner)) {
      y += lineHeight;
      markup.push(textElement(line, { x: margin, y, ...look, "font-size": font.size }));
    }
  };
  write(title, FONT.title, TITLE_LINE, { fill: INK.title, "font-weight": 600 });
  y += 2;
  if (subtitle !== undefined)
    write(subtitle, FONT.subtitle, SUBTITLE_LINE, { fill: INK.text, "font-weight": 400 });
  return { markup, bottom: y + 12 };
}

/** What is cut off: beside the title of the y axis, or beneath it if there is no room. */
interface Notes {
  readonly lines: readonly string[];
  readonly isBeside: boolean;
}

function notesOf(plot: Plot, all: readonly Plot[], { inner }: Frame): Notes {
  const text = [aboveNote(plot), beyondNote(all)].filter((part) => part !== "").join(" · ");
  if (text === "") return { lines: [], isBeside: true };
  const beside = inner - textWidth(axisTitle(plot.y.axis), FONT.label) - MARGIN;
  const isBeside = textWidth(text, FONT.label) <= beside;
  return { lines: wrapText(text, FONT.label, inner), isBeside };
}

/** The title of the y axis lies above its axis, where it can be read without turning the head. */
function texts(panel: PlacedPanel, { width, margin, inner }: Frame): string[] {
  const { plot, place, titleY, left, bottom, isLowest, notes } = panel;
  const look = { fill: INK.text, "font-size": FONT.label.size };
  const yTitle = fitText(axisTitle(plot.y.axis), FONT.label, inner);
  const xTitle = fitText(axisTitle(plot.x.axis), FONT.label, inner);
  const xPlace = { x: left + place.width / 2, y: bottom + FOOT - 16, "text-anchor": "middle" };
  const noteAt = (line: number): object =>
    notes.isBeside
      ? { x: width - margin, y: titleY, "text-anchor": "end" }
      : { x: margin, y: titleY + (line + 1) * NOTE_LINE };
  return [
    textElement(yTitle, { ...look, x: margin, y: titleY }),
    ...(isLowest ? [textElement(xTitle, { ...look, ...xPlace })] : []),
    ...notes.lines.map((line, index) => textElement(line, { ...look, ...noteAt(index) })),
  ];
}
