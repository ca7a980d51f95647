import { axisTitle } from "./axes.ts";
import type { Chart } from "./chart.ts";
import { aboveNote, beyondNote } from "./cut.ts";
import { LEGEND_ROW, legendOf } from "./legend.ts";
import type { Legend } from "./legend.ts";
import { element, escapeText, fitText, textElement, textWidth } from "./markup.ts";
import { FONT_FAMILY, FONT_SIZE, INK } from "./palette.ts";
import { panelMarkup } from "./panel.ts";
import { placeIn, plotsOf } from "./plot.ts";
import type { Place, Plot, PlotAxis } from "./plot.ts";

const WIDTH = 800;
/** Of one panel with one row of legend; further rows add to it and take nothing from the plot. */
const HEIGHT = 420;
/** Of each plot where there are several. */
const PLOT_HEIGHT = 140;
const PANEL_GAP = 26;
const MARGIN = 24;
/** Tick labels and the axis title. */
const FOOT = 58;
/** The row of the upper axis title. */
const HEAD = 36;

/** The chart as an SVG document, the same bytes for the same chart. */
export function renderSvg(chart: Chart): string {
  const panels = layOut(chart);
  const height = Math.max(...panels.map(({ bottom }) => bottom)) + FOOT;
  const children = [
    `<title>${escapeText(chart.title)}</title>`,
    element("rect", { width: WIDTH, height, rx: 8, fill: INK.paper }),
    ...heading(chart),
    ...panels.flatMap((panel) => [
      element("g", { transform: `translate(${MARGIN} ${panel.legendTop})` }, [panel.legend.markup]),
      ...texts(panel),
      element(
        "g",
        { transform: `translate(${panel.left} ${panel.top})` },
        panelMarkup(panel.plot, panel.place, {
          hasColumns: panels.length > 1,
          hasFoot: panel.isLowest,
        }),
      ),
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

/** A panel and where in the document it goes. */
interface PlacedPanel {
  readonly plot: Plot;
  readonly place: Place;
  readonly legend: Legend;
  readonly legendTop: number;
  /** Of the plot, as are `left` and `bottom`. */
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly isLowest: boolean;
  /** Says what is cut off. */
  readonly note: string;
}

function layOut(chart: Chart): PlacedPanel[] {
  const plots = plotsOf(chart);
  // The labels of x stand astride its ends.
  const overhang = Math.max(MARGIN, ...plots.map(({ x }) => labelWidth(x) / 2 + 8));
  const room = Math.max(...plots.map(({ y }) => MARGIN + labelWidth(y) + 8));
  const left = Math.ceil(Math.max(room, overhang));
  const width = Math.floor(WIDTH - left - overhang);

  let legendTop = chart.subtitle === undefined ? 48 : 68;
  return plots.map((plot, index) => {
    const legend = legendOf(plot.series, WIDTH - 2 * MARGIN);
    const top = legendTop + legend.height + HEAD;
    const rest = HEIGHT - legendTop - Math.min(legend.height, LEGEND_ROW) - HEAD - FOOT;
    const place = placeIn(plot, width, plots.length === 1 ? rest : PLOT_HEIGHT);
    const bottom = top + place.height;
    const notes = [aboveNote(plot), index === 0 ? beyondNote(plots) : ""];
    const note = notes.filter((part) => part !== "").join(" · ");
    const isLowest = index === plots.length - 1;
    const panel = { plot, place, legend, legendTop, top, left, bottom, isLowest, note };
    legendTop = bottom + PANEL_GAP;
    return panel;
  });
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
function texts({ plot, place, top, left, bottom, isLowest, note }: PlacedPanel): string[] {
  const look = { fill: INK.text, "font-size": FONT_SIZE.label };
  const width = WIDTH - 2 * MARGIN;
  const yTitle = axisTitle(plot.y.axis, width / 2);
  const xTitle = axisTitle(plot.x.axis, width);
  const xPlace = { x: left + place.width / 2, y: bottom + FOOT - 16, "text-anchor": "middle" };
  const noteWidth = width - textWidth(yTitle, FONT_SIZE.label) - MARGIN;
  const noteText = fitText(note, FONT_SIZE.label, noteWidth);
  const notePlace = { x: WIDTH - MARGIN, y: top - 18, "text-anchor": "end" };
  return [
    textElement(yTitle, { ...look, x: MARGIN, y: top - 18 }),
    ...(isLowest ? [textElement(xTitle, { ...look, ...xPlace })] : []),
    ...(noteText === "" ? [] : [textElement(noteText, { ...look, ...notePlace })]),
  ];
}
