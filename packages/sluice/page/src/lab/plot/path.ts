import type { Series } from "@sluice/lab/browser";
import type { Band } from "./bands.ts";

/** Points that a path may have: more than a chart has pixels make it slow and look the same. */
const POINTS_MAX = 2_000;

export interface Projection {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

interface Drawn {
  readonly x: number;
  readonly y: number | undefined;
}

/** The line of a series: straight, or in steps that last until the next point. `endX` is where the last step ends. */
export function linePath({ points, shape }: Series, { x, y }: Projection, endX: number): string {
  const drawn = thinned(points);
  let path = "";
  let isPen = false;
  for (const [i, point] of drawn.entries()) {
    if (!isKnown(point.y)) {
      isPen = false;
      continue;
    }
    const [px, py] = [round(x(point.x)), round(y(point.y))];
    path += `${isPen ? "L" : "M"}${px} ${py}`;
    isPen = true;
    if (shape !== "line") path += `H${round(x(drawn[i + 1]?.x ?? endX))}`;
  }
  return path;
}

/** The same down to the axis, for a fill. Gaps are at zero. */
export function areaPath({ points, shape }: Series, { x, y }: Projection, endX: number): string {
  const drawn = thinned(points);
  const [first] = drawn;
  if (first === undefined) return "";
  const bottom = round(y(0));
  let path = `M${round(x(first.x))} ${bottom}`;
  for (const [i, point] of drawn.entries()) {
    path += `L${round(x(point.x))} ${isKnown(point.y) ? round(y(point.y)) : bottom}`;
    if (shape !== "line") path += `H${round(x(drawn[i + 1]?.x ?? endX))}`;
  }
  const lastX = shape === "line" ? (drawn.at(-1)?.x ?? 0) : endX;
  return `${path}L${round(x(lastX))} ${bottom}Z`;
}

/** Between the edges of a band, in steps: along its upper edge, and back along the lower one. */
export function bandPath({ upper, lower: base }: Band, { x, y }: Projection, endX: number): string {
  const [first] = upper;
  if (first === undefined) return "";
  const along = upper.map(({ x: at, y: value = 0 }, i) => {
    const edge = round(y(value));
    const start = i === 0 ? `M${round(x(at))} ${edge}` : `V${edge}`;
    return `${start}H${round(x(upper[i + 1]?.x ?? endX))}`;
  });
  const back = base.map(({ x: at, y: value = 0 }) => `V${round(y(value))}H${round(x(at))}`);
  return `${along.join("")}${back.toReversed().join("")}Z`;
}

/** The value that a series shows at an instant: of the last point before it. */
export function valueAtX({ points }: Series, at: number): number | undefined {
  let found: number | undefined;
  for (const point of points) {
    if (point.x > at) break;
    found = isKnown(point.y) ? point.y : undefined;
  }
  return found;
}

/** Of each group of points the highest and the lowest, so that no peak is lost. */
function thinned(points: Series["points"]): readonly Drawn[] {
  if (points.length <= POINTS_MAX) return points;
  const size = Math.ceil((2 * points.length) / POINTS_MAX);
  const kept: Drawn[] = [];
  for (let from = 0; from < points.length; from += size) {
    const group = points.slice(from, from + size).filter(({ y }) => isKnown(y));
    const [any] = group;
    if (any === undefined) continue;
    const [low, high] = [group.reduce(lower, any), group.reduce(higher, any)];
    kept.push(...(low.x <= high.x ? [low, high] : [high, low]));
  }
  return kept;
}

function lower(a: Drawn, b: Drawn): Drawn {
  return (b.y ?? 0) < (a.y ?? 0) ? b : a;
}

function higher(a: Drawn, b: Drawn): Drawn {
  return (b.y ?? 0) > (a.y ?? 0) ? b : a;
}

function isKnown(y: number | undefined): y is number {
  return y !== undefined && Number.isFinite(y);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
