import type { Marker } from "./chart.ts";
import { element, escapeText, textElement } from "./markup.ts";
import { FONT, INK } from "./palette.ts";
import type { Scale } from "./scale.ts";
import { textWidth } from "./text-width.ts";

/** Height of a row of labels. */
export const MARKER_ROW = 15;
/** Rows of labels above the uppermost plot. Events that find no room in them are counted instead. */
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
  readonly label: string;
  /** Everything that happened, for the tooltip. */
  readonly details: string;
}

/** The markers within the plot, from left to right. */
export function placeMarkers(
  markers: readonly Marker[],
  scale: Scale,
  width: number,
): readonly PlacedMarker[] {
  const clusters: { at: number; untilAt: number; labels: string[] }[] = [];
  let lastAt = -Infinity;
  for (const { x, until = x, label } of markers.toSorted((a, b) => a.x - b.x)) {
    const at = scale(x);
    if (!(at >= 0 && at <= width)) continue;
    const untilAt = Math.min(width, scale(until));
    const cluster = clusters.at(-1);
    if (cluster !== undefined && at - lastAt < CLUSTER_GAP) {
      cluster.labels.push(label);
      cluster.untilAt = Math.max(cluster.untilAt, untilAt, at);
    } else clusters.push({ at, untilAt: Math.max(at, untilAt), labels: [label] });
    lastAt = at;
  }
  return clusters.map(({ at, untilAt, labels }) => ({
    at,
    untilAt,
    label: summaryOf(labels),
    details: labels.join(", "),
  }));
}

/** `join ×14` if all begin with the same word, both labels of two, else the first and a number. */
function summaryOf(labels: readonly string[]): string {
  const [first = "", ...others] = labels;
  if (others.length < 2) return labels.join(", ");
  const [word = ""] = first.split(" ");
  if (labels.every((label) => label.split(" ")[0] === word)) return `${word} ×${labels.length}`;
  return `${first} +${others.length}`;
}

export interface MarkerLabel {
  /** The marker's place. */
  readonly at: number;
  readonly row: number;
  readonly text: string;
  /** The label stands left of its marker, because there is no room right of it. */
  readonly isBefore: boolean;
}

/**
 * The labels, placed from right to left: each in the lowest row where it crosses neither a label nor
 * the line that leads up to one.
 */
export function markerLabels(markers: readonly PlacedMarker[], width: number): MarkerLabel[] {
  /** By row: where the room left of the labels placed so far ends. */
  const rooms = Array.from({ length: ROWS_MAX }, () => width + GAP);
  const labels: MarkerLabel[] = [];
  let unnamed = 0;
  for (const { at, label } of markers.toReversed()) {
    const text = unnamed === 0 ? label : `${label} +${unnamed}`;
    const labelWidth = textWidth(text, FONT.marker) + GAP;
    const isBefore = at + labelWidth > width && at >= labelWidth;
    const right = isBefore ? at : at + labelWidth;
    const row = rooms.findIndex((room) => right + GAP <= room);
    if (row === -1) {
      unnamed++;
      continue;
    }
    unnamed = 0;
    for (let below = 0; below <= row; below++) rooms[below] = Math.min(rooms[below] ?? 0, at);
    if (isBefore) rooms[row] = at - labelWidth;
    labels.push({ at, row, text, isBefore });
  }
  return labels;
}

/** Lines and bands through one plot; where `labels` are given, the lines reach up to them. */
export function markersMarkup(
  markers: readonly PlacedMarker[],
  height: number,
  labels: readonly MarkerLabel[],
): string[] {
  const bands = markers
    .filter(({ at, untilAt }) => untilAt > at)
    .map(({ at, untilAt, details }) => {
      const look = { fill: INK.marker, "fill-opacity": BAND_OPACITY };
      return element("rect", { x: at, y: 0, width: untilAt - at, height, ...look }, [
        tooltip(details),
      ]);
    });
  const lines = markers.map(({ at, details }) => {
    const rows = labels.filter((each) => each.at === at).map(({ row }) => row + 1);
    const path = `M${Math.floor(at) + 0.5} ${-Math.max(0, ...rows) * MARKER_ROW}V${height}`;
    const look = { fill: "none", stroke: INK.marker, "stroke-dasharray": "3 3" };
    return element("path", { d: path, ...look }, [tooltip(details)]);
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

function tooltip(details: string): string {
  return `<title>${escapeText(details)}</title>`;
}
