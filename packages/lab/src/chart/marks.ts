import type { Point, Series } from "./chart.ts";
import { element, round } from "./markup.ts";
import type { Stroke } from "./palette.ts";
import type { Place } from "./plot.ts";

/** A line through the samples. One without neighbours would be invisible and becomes a dot. */
export function lineMark(points: readonly Point[], place: Place, stroke: Stroke): string {
  const lines: string[] = [];
  const dots: string[] = [];
  for (const run of runsOf(points)) {
    const [first = "", ...others] = run.map(
      (at) => `${round(place.x(at.x))} ${round(place.y(at.y))}`,
    );
    if (others.length === 0) dots.push(`M${first}h0`);
    else lines.push(`M${first}${others.map((pair) => `L${pair}`).join("")}`);
  }
  const [line, dot] = [lines.join(""), dots.join("")];
  return [
    ...(line === "" ? [] : [strokedPath(line, stroke)]),
    ...(dot === "" ? [] : [strokedPath(dot, { ...stroke, dash: "" }, 5)]),
  ].join("\n");
}

interface Sample {
  readonly x: number;
  readonly y: number;
}

function runsOf(points: readonly Point[]): Sample[][] {
  const runs: Sample[][] = [[]];
  for (const { x, y } of points) {
    if (y === undefined) runs.push([]);
    else runs.at(-1)?.push({ x, y });
  }
  return runs.filter((run) => run.length > 0);
}

export function stepMark(
  points: readonly Point[],
  place: Place,
  look: { readonly stroke: Stroke; readonly slot: number },
): string {
  let path = "";
  let held: Sample | undefined;
  for (const { x, y } of points) {
    const left = round(place.x(x));
    if (held !== undefined) path += `H${left}`;
    if (y !== undefined) {
      const top = round(place.y(y));
      path += held === undefined ? `M${left} ${top}` : `V${top}`;
    }
    held = y === undefined ? undefined : { x, y };
  }
  if (held !== undefined) path += `H${round(place.x(held.x + look.slot))}`;
  return path === "" ? "" : strokedPath(path, look.stroke);
}

function strokedPath(path: string, stroke: Stroke, width = 2): string {
  return element("path", {
    d: path,
    fill: "none",
    stroke: stroke.colour,
    "stroke-width": width,
    "stroke-linejoin": "round",
    "stroke-linecap": "round",
    ...(stroke.dash === "" ? {} : { "stroke-dasharray": stroke.dash }),
  });
}

export const BAR_OPACITY = 0.45;

/** A bar of nothing is still seen, because a gap means something else. */
const BAR_HEIGHT_MIN = 2;

/** Where in its slot a bar stands, in pixels. */
export interface BarPlace {
  readonly offset: number;
  readonly width: number;
}

/** All bars are one path: overlapping ones do not add up to a darker colour. */
export function barMark(
  points: readonly Point[],
  place: Place,
  look: { readonly stroke: Stroke; readonly bar: BarPlace },
): string {
  const zero = place.y(0);
  let path = "";
  for (const { x, y } of points) {
    if (y === undefined) continue;
    const left = place.x(x) + look.bar.offset;
    const end = place.y(y);
    const top = Math.abs(zero - end) < BAR_HEIGHT_MIN ? zero - BAR_HEIGHT_MIN : end;
    path += `M${round(left)} ${round(zero)}V${round(top)}H${round(left + look.bar.width)}V${round(zero)}Z`;
  }
  if (path === "") return "";
  return element("path", { d: path, fill: look.stroke.colour, "fill-opacity": BAR_OPACITY });
}

/** Series of bars share a slot side by side, or lie over each other where it is too narrow. */
export function barPlaces(series: readonly Series[], slotWidth: number): BarPlace[] {
  const count = series.filter(({ shape }) => shape === "bar").length;
  const inset = slotWidth * 0.1;
  const width = (slotWidth - 2 * inset) / Math.max(1, count);
  if (width < 2) {
    const whole = { offset: 0, width: Math.max(1.5, slotWidth - 2 * inset) };
    return Array.from({ length: count }, () => whole);
  }
  return Array.from({ length: count }, (_, index) => ({ offset: inset + index * width, width }));
}
