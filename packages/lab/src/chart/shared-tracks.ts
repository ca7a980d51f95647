import { round } from "./draw/markup.ts";

/** A straight part of a line, in pixels. */
export interface Segment {
  readonly fromX: number;
  readonly fromY: number;
  readonly toX: number;
  readonly toY: number;
}

/**
 * Pixels of one line before the next has its turn. Longer turns are calmer but hide short overlaps.
 */
const TURN = 9;

/** A stretch of a track, and the lines that run along all of it. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly number[];
}

/**
 * Where lines coincide. Horizontal segments of about one height lie on one track, so do vertical
 * ones of about one x; sloped segments coincide only if they are equal. Along a stretch with k lines
 * each line draws every k-th turn.
 */
export class SharedTracks {
  readonly #spans = new Map<string, readonly Span[]>();

  constructor(lines: readonly (readonly Segment[])[]) {
    const stretches = new Map<string, { from: number; to: number; line: number }[]>();
    for (const [line, segments] of lines.entries()) {
      for (const segment of segments) {
        const key = trackOf(segment);
        const track = stretches.get(key) ?? [];
        track.push({ ...extentOf(segment), line });
        stretches.set(key, track);
      }
    }
    for (const [key, track] of stretches) {
      const first = track[0]?.line;
      if (track.some(({ line }) => line !== first)) this.#spans.set(key, spansOf(track));
    }
  }

  /** What `line` draws of one of its segments, in the segment's direction. */
  partsOf(line: number, segment: Segment): Segment[] {
    const spans = this.#spans.get(trackOf(segment));
    if (spans === undefined) return [segment];
    const extent = extentOf(segment);
    const turn = turnOf(segment);
    const parts: { from: number; to: number }[] = [];
    for (let index = firstSpan(spans, extent.from); index < spans.length; index++) {
      const { from: spanFrom, to: spanTo, lines } = spans[index] as Span;
      const from = Math.max(spanFrom, extent.from);
      const to = Math.min(spanTo, extent.to);
      if (from >= extent.to) break;
      if (!lines.includes(line)) continue;
      if (lines.length === 1) parts.push({ from, to });
      else parts.push(...turnsOf({ from, to }, turn, lines.indexOf(line), lines.length));
    }
    const drawn = parts.map((part) => cut(segment, part.from, part.to));
    return isReversed(segment) ? drawn.toReversed() : drawn;
  }
}

/** The part of each of its turns that lies between the two ends. */
function turnsOf(
  { from, to }: { readonly from: number; readonly to: number },
  turn: number,
  rank: number,
  count: number,
): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  for (let index = Math.floor(from / turn); index * turn < to; index++) {
    if (((index % count) + count) % count !== rank) continue;
    parts.push({ from: Math.max(from, index * turn), to: Math.min(to, (index + 1) * turn) });
  }
  return parts;
}

function spansOf(
  track: readonly { readonly from: number; readonly to: number; readonly line: number }[],
): Span[] {
  const ends = track
    .flatMap(({ from, to, line }) => [
      { at: from, line, step: 1 },
      { at: to, line, step: -1 },
    ])
    .toSorted((a, b) => a.at - b.at);
  const active = new Map<number, number>();
  const spans: Span[] = [];
  for (const [index, { at, line, step }] of ends.entries()) {
    const from = ends[index - 1]?.at ?? at;
    const lines = [...active.keys()].filter((each) => (active.get(each) ?? 0) > 0);
    if (at > from && lines.length > 0)
      spans.push({ from, to: at, lines: lines.toSorted((a, b) => a - b) });
    active.set(line, (active.get(line) ?? 0) + step);
  }
  return spans;
}

/** The index of the first span that ends after `position`. */
function firstSpan(spans: readonly Span[], position: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle] as Span).to > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Pixels that a track is wide: lines a fraction of their width apart hide each other too. */
const TRACK_WIDTH = 2;

function trackOf({ fromX, fromY, toX, toY }: Segment): string {
  if (fromY === toY) return `y ${Math.round(fromY / TRACK_WIDTH)}`;
  if (fromX === toX) return `x ${Math.round(fromX / TRACK_WIDTH)}`;
  return `${fromX} ${fromY} ${toX} ${toY}`;
}

/** Positions along a track are those of x; along a vertical one those of y. */
function extentOf({ fromX, fromY, toX, toY }: Segment): { from: number; to: number } {
  return fromX === toX
    ? { from: Math.min(fromY, toY), to: Math.max(fromY, toY) }
    : { from: Math.min(fromX, toX), to: Math.max(fromX, toX) };
}

function isReversed({ fromX, fromY, toX, toY }: Segment): boolean {
  return fromX === toX ? toY < fromY : toX < fromX;
}

/** A turn as a distance of positions: on a slope, x covers less than the line is long. */
function turnOf({ fromX, fromY, toX, toY }: Segment): number {
  if (fromX === toX || fromY === toY) return TURN;
  return (TURN * Math.abs(toX - fromX)) / Math.hypot(toX - fromX, toY - fromY);
}

function cut(segment: Segment, from: number, to: number): Segment {
  const { fromX, fromY, toX, toY } = segment;
  const [low, high] = isReversed(segment) ? [to, from] : [from, to];
  if (fromX === toX) return { fromX, fromY: round(low), toX, toY: round(high) };
  const yAt = (x: number): number => round(fromY + ((x - fromX) / (toX - fromX)) * (toY - fromY));
  return { fromX: round(low), fromY: yAt(low), toX: round(high), toY: yAt(high) };
}
