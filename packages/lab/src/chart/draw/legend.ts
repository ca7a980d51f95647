import { BAR_OPACITY } from "./bars.ts";
import type { Series } from "../chart.ts";
import { element, textElement } from "./markup.ts";
import { FONT, INK, strokeOf } from "./palette.ts";
import type { Stroke } from "./palette.ts";
import { fitText, textWidth } from "./text-width.ts";

const SWATCH_WIDTH = 18;
const SWATCH_GAP = 7;
const ENTRY_GAP = 22;
/** Height of a row of entries. */
export const LEGEND_ROW = 20;

export interface Legend {
  readonly markup: string;
  readonly height: number;
}

/** Entries from left to right in the order of the series, in as many rows as it takes. */
export function legendOf(series: readonly Series[], width: number): Legend {
  let [left, top] = [0, 0];
  const entries: string[] = [];
  for (const [index, { label, shape }] of series.entries()) {
    const stroke = strokeOf(index);
    const text = fitText(label, FONT.label, width - SWATCH_WIDTH - SWATCH_GAP);
    const entryWidth = SWATCH_WIDTH + SWATCH_GAP + textWidth(text, FONT.label);
    if (left > 0 && left + entryWidth > width) [left, top] = [0, top + LEGEND_ROW];
    const middle = top + LEGEND_ROW / 2;
    entries.push(
      swatch(shape, stroke, { left, middle }),
      textElement(text, {
        x: left + SWATCH_WIDTH + SWATCH_GAP,
        y: middle + 4,
        fill: INK.title,
        "font-size": FONT.label.size,
      }),
    );
    left += Math.ceil(entryWidth + ENTRY_GAP);
  }
  return { markup: entries.join("\n"), height: entries.length === 0 ? 0 : top + LEGEND_ROW };
}

function swatch(
  shape: Series["shape"],
  stroke: Stroke,
  at: { readonly left: number; readonly middle: number },
): string {
  if (shape === "bar") {
    return element("rect", {
      x: at.left + 3,
      y: at.middle - 6,
      width: 12,
      height: 12,
      fill: stroke.colour,
      "fill-opacity": BAR_OPACITY,
    });
  }
  const half = SWATCH_WIDTH / 2;
  const path = shape === "line" ? `h${SWATCH_WIDTH}` : `v4h${half}v-8h${half}`;
  return element("path", {
    d: `M${at.left} ${at.middle}${path}`,
    fill: "none",
    stroke: stroke.colour,
    "stroke-width": 2.5,
    ...(stroke.dash === "" ? {} : { "stroke-dasharray": stroke.dash }),
  });
}
