import type { Series } from "../chart.ts";
import { element, round } from "./markup.ts";
import { strokeOf } from "./palette.ts";
import type { Stroke } from "./palette.ts";
import type { Place, Plot } from "../plot.ts";
import { SharedTracks } from "../shared-tracks.ts";
import type { Segment } from "../shared-tracks.ts";

const LINE_WIDTH = 2;
/** Diameter of a sample without a neighbour: a line through one point would be invisible. */
const DOT_WIDTH = 5;

/**
 * The lines and steps of a plot. Where several coincide they take turns, so that none is hidden.
 */
export function linesMarkup(plot: Plot, place: Place): string[] {
  const lines = plot.series.flatMap((series, index) => {
    if (series.shape === "bar") return [];
    const runs = runsOf(series, plot.slot).map((run) =>
      run.map(({ x, y }) => ({ x: round(place.x(x)), y: round(place.y(y)) })),
    );
    return [{ stroke: strokeOf(index), runs, segments: runs.flatMap(segmentsOf) }];
  });
  const tracks = new SharedTracks(lines.map(({ segments }) => segments));
  return lines.flatMap(({ stroke, runs, segments }, line) => {
    const path = pathOf(segments.flatMap((segment) => tracks.partsOf(line, segment)));
    const dots = runs.flatMap(([first, ...others]) =>
      first === undefined || others.length > 0 ? [] : [`M${first.x} ${first.y}h0`],
    );
    return [
      ...(path === "" ? [] : [strokedPath(path, stroke, LINE_WIDTH)]),
      ...(dots.length === 0
        ? []
        : [strokedPath(dots.join(""), { ...stroke, dash: "" }, DOT_WIDTH)]),
    ];
  });
}

interface Corner {
  readonly x: number;
  readonly y: number;
}

/**
 * The corners of each stretch between gaps. A step holds its value until the next sample or gap.
 */
function runsOf({ shape, points }: Series, slot: number): Corner[][] {
  const runs: Corner[][] = [];
  let run: Corner[] = [];
  const holdUntil = (x: number | undefined): void => {
    const last = run.at(-1);
    if (shape === "step" && last !== undefined) run.push({ x: x ?? last.x + slot, y: last.y });
  };
  for (const { x, y } of points) {
    holdUntil(x);
    if (y !== undefined) {
      run.push({ x, y });
      continue;
    }
    runs.push(run);
    run = [];
  }
  holdUntil(undefined);
  return [...runs, run].filter(({ length }) => length > 0);
}

function segmentsOf(corners: readonly Corner[]): Segment[] {
  return corners.flatMap((to, index) => {
    const from = corners[index - 1];
    if (from === undefined || (from.x === to.x && from.y === to.y)) return [];
    return [{ fromX: from.x, fromY: from.y, toX: to.x, toY: to.y }];
  });
}

/** Segments that touch become one stroke; horizontal ones that continue each other, one command. */
function pathOf(segments: readonly Segment[]): string {
  const commands: string[] = [];
  let at: Segment | undefined;
  for (const segment of segments) {
    const { fromX, fromY, toX, toY } = segment;
    const continues = at !== undefined && at.toX === fromX && at.toY === fromY;
    if (!continues) commands.push(`M${fromX} ${fromY}`);
    if (fromY === toY) {
      if (continues && at?.fromY === fromY) commands.pop();
      commands.push(`H${toX}`);
    } else commands.push(fromX === toX ? `V${toY}` : `L${toX} ${toY}`);
    at = segment;
  }
  return commands.join("");
}

function strokedPath(path: string, stroke: Stroke, width: number): string {
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
