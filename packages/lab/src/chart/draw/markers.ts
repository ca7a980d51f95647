import type { Marker } from "../chart.ts";
import { element, escapeText, textElement } from "./markup.ts";
import { FONT, INK } from "./palette.ts";
import type { Scale } from "../scale.ts";
import { fitText, textWidth } from "./text-width.ts";

/** Height of a row of labels. */
export const MARKER_ROW = 15;
/** Most rows of labels above the uppermost plot. With more, fewer labels are shared. */
const ROWS_MAX = 4;
/** Pixels between a marker and its label, and between a label and the next marker. */
const GAP = 4;
const BAND_OPACITY = 0.1;
/** Markers closer to the one before than this, in pixels, are drawn as one. */
const CLUSTER_GAP = 4;

/** One marker, or several that lie too close together to be drawn one by one. */
export interface PlacedMarker {
  readonly at: number;
  /** Where the shaded band ends; `at` if there is none. */
  readonly untilAt: number;
  readonly names: readonly string[];
}

/** The markers within the plot, from left to right. */
export function placeMarkers(
  markers: readonly Marker[],
  scale: Scale,
  width: number,
): readonly PlacedMarker[] {
  const clusters: { at: number; untilAt: number; names: string[] }[] = [];
  let lastAt = -Infinity;
  for (const { x, until = x, label } of markers.toSorted((a, b) => a.x - b.x)) {
    const at = scale(x);
    if (!(at >= 0 && at <= width)) continue;
    const untilAt = Math.min(width, scale(until));
    const cluster = clusters.at(-1);
    if (cluster !== undefined && at - lastAt < CLUSTER_GAP) {
      cluster.names.push(label);
      cluster.untilAt = Math.max(cluster.untilAt, untilAt, at);
    } else clusters.push({ at, untilAt: Math.max(at, untilAt), names: [label] });
    lastAt = at;
  }
  return clusters;
}

export interface MarkerLabel {
  /** The place of its marker, or of the first of several. */
  readonly at: number;
  readonly row: number;
  readonly text: string;
  /** The label stands left of its marker, because there is no room right of it. */
  readonly isBefore: boolean;
}

interface Named {
  readonly at: number;
  readonly names: readonly string[];
}

/** The labels. A marker whose label finds no room shares one with the marker nearest to it. */
export function markerLabels(markers: readonly PlacedMarker[], width: number): MarkerLabel[] {
  let groups: readonly Named[] = markers;
  for (;;) {
    const labels = labelRows(groups, width);
    const homeless = groups.findLastIndex(({ at }) => labels.every((label) => label.at !== at));
    if (homeless === -1 || groups.length === 1) return labels;
    groups = mergeNearest(groups, homeless);
  }
}

/**
 * Placed from right to left, each in the lowest row where it crosses no label and no line to one.
 */
function labelRows(groups: readonly Named[], width: number): MarkerLabel[] {
  /** By row: where the room left of the labels placed so far ends. */
  const rooms = Array.from({ length: ROWS_MAX }, () => width + GAP);
  const labels: MarkerLabel[] = [];
  for (const { at, names } of groups.toReversed()) {
    const text = fitText(summaryOf(names), FONT.marker, width - GAP);
    const labelWidth = textWidth(text, FONT.marker) + GAP;
    const isBefore = at + labelWidth > width && at >= labelWidth;
    const right = isBefore ? at : at + labelWidth;
    const row = rooms.findIndex((room) => right + GAP <= room);
    if (row === -1) continue;
    for (let below = 0; below <= row; below++) rooms[below] = Math.min(rooms[below] ?? 0, at);
    if (isBefore) rooms[row] = at - labelWidth;
    labels.push({ at, row, text, isBefore });
  }
  return labels;
}

function mergeNearest(groups: readonly Named[], index: number): Named[] {
  const distance = (left: number): number =>
    (groups[left + 1]?.at ?? Infinity) - (groups[left]?.at ?? -Infinity);
  const left = distance(index - 1) < distance(index) ? index - 1 : index;
  const [first, second] = [groups[left], groups[left + 1]];
  if (first === undefined || second === undefined) return [...groups];
  const merged = { at: first.at, names: [...first.names, ...second.names] };
  return [...groups.slice(0, left), merged, ...groups.slice(left + 2)];
}

/** `join ×14` if all begin with the same word, both names of two, else the first and a number. */
function summaryOf(names: readonly string[]): string {
  const [first = "", ...others] = names;
  if (others.length < 2) return names.join(", ");
  const [word = ""] = first.split(" ");
  if (names.every((name) => name.split(" ")[0] === word)) return `${word} ×${names.length}`;
  return `${first} +${others.length}`;
}

/** Lines and bands through one plot; where `labels` are given, the lines reach up to them. */
export function markersMarkup(
  markers: readonly PlacedMarker[],
  height: number,
  labels: readonly MarkerLabel[],
): string[] {
  const bands = markers
    .filter(({ at, untilAt }) => untilAt > at)
    .map(({ at, untilAt, names }) => {
      const look = { fill: INK.marker, "fill-opacity": BAND_OPACITY };
      return element("rect", { x: at, y: 0, width: untilAt - at, height, ...look }, [
        tooltip(names),
      ]);
    });
  const lines = markers.map(({ at, names }) => {
    const rows = labels.filter((each) => each.at === at).map(({ row }) => row + 1);
    const path = `M${Math.floor(at) + 0.5} ${-Math.max(0, ...rows) * MARKER_ROW}V${height}`;
    const look = { fill: "none", stroke: INK.marker, "stroke-dasharray": "3 3" };
    return element("path", { d: path, ...look }, [tooltip(names)]);
  });
  return [...bands, ...lines];
}

export function markerLabelsMarkup(labels: readonly MarkerLabel[]): string[] {
  return labels.map(({ at, row, text, isBefore }) =>
    textElement(text, {
      x: isBefore ? at - GAP : at + GAP,
      y: -row * MARKER_ROW - 5,
      fill: INK.text,
      "font-size": FONT.marker.size,
      ...(isBefore ? { "text-anchor": "end" } : {}),
      // A halo, where a line crosses the text.
      stroke: INK.paper,
      "stroke-width": 3,
      "paint-order": "stroke",
    }),
  );
}

/** Browsers show it when the pointer rests on the mark. */
function tooltip(names: readonly string[]): string {
  return `<title>${escapeText(names.join(", "))}</title>`;
}
