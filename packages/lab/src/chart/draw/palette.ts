import type { Font } from "./text-width.ts";

/** A colour on white, and the one in its place on a dark page. */
interface Colour {
  readonly light: string;
  readonly dark: string;
}

/**
 * After Okabe and Ito's set, which can be told apart with any kind of colour vision; darkened so
 * that each has a contrast of at least 3 against the paper.
 */
const SERIES: readonly Colour[] = [
  { light: "#0072b2", dark: "#4aa8e8" },
  { light: "#d55e00", dark: "#ff8f4a" },
  { light: "#008a65", dark: "#33c79b" },
  { light: "#7a4fd0", dark: "#b596f5" },
  { light: "#a67500", dark: "#e8b640" },
  { light: "#c24f8d", dark: "#f08fc0" },
  { light: "#4b515a", dark: "#bcc3cc" },
  { light: "#1590b8", dark: "#7fd6ea" },
];

/** For the first eight series, the next eight, and so on: dashes tell equal colours apart. */
const DASHES = ["", "7 4", "2 4"];

export interface Stroke {
  readonly colour: string;
  /** `stroke-dasharray`; empty for a solid line. */
  readonly dash: string;
}

export function strokeOf(seriesIndex: number): Stroke {
  const turn = Math.floor(seriesIndex / SERIES.length);
  return {
    colour: SERIES[seriesIndex % SERIES.length]?.light ?? "",
    dash: DASHES[turn % DASHES.length] ?? "",
  };
}

type InkName = "paper" | "title" | "text" | "axis" | "grid" | "marker";

const INKS: Readonly<Record<InkName, Colour>> = {
  paper: { light: "#ffffff", dark: "#10141a" },
  title: { light: "#1f2328", dark: "#e8ecf1" },
  text: { light: "#57606a", dark: "#a5b0bd" },
  axis: { light: "#8c959f", dark: "#6b7685" },
  grid: { light: "#e6e9ed", dark: "#232a34" },
  marker: { light: "#6e7681", dark: "#8d99a8" },
};

export const INK: Readonly<Record<InkName, string>> = {
  paper: INKS.paper.light,
  title: INKS.title.light,
  text: INKS.text.light,
  axis: INKS.axis.light,
  grid: INKS.grid.light,
  marker: INKS.marker.light,
};

/** On the root element, so that the dark colours reach only charts if one is part of a page. */
export const ROOT_CLASS = "sluice-chart";

/**
 * Replaces every colour where the reader prefers dark pages. Programs that draw SVG without styles
 * show the light colours, which stand in the attributes.
 */
export function darkStyle(): string {
  const rules = [...Object.values(INKS), ...SERIES].flatMap(({ light, dark }) =>
    ["fill", "stroke"].map((paint) => `.${ROOT_CLASS} [${paint}="${light}"]{${paint}:${dark}}`),
  );
  return `@media (prefers-color-scheme:dark){${rules.join("")}}`;
}

/** What the reader's system uses for its own labels. */
export const FONT_FAMILY =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export const FONT: Readonly<Record<"title" | "subtitle" | "label" | "marker", Font>> = {
  title: { size: 17, isBold: true },
  subtitle: { size: 13 },
  label: { size: 12 },
  marker: { size: 11 },
};
