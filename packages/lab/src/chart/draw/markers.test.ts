import fc from "fast-check";
import { expect, test } from "vitest";
import type { Chart, Marker } from "../chart.ts";
import { markerLabels, placeMarkers } from "./markers.ts";
import { renderSvg } from "./svg.ts";
import { textWidth } from "./text-width.ts";

const WIDTH = 700;
const scale = (x: number): number => x;

const chartWith = (markers: readonly Marker[]): Chart => {
  const points = [0, 100].map((x) => ({ x, y: 1 }));
  const panel = { y: { label: "v" }, series: [{ label: "a", shape: "line", points }] } as const;
  return { title: "a title", x: { label: "t" }, ...panel, below: [panel], markers };
};

test("a marker is a line through every panel, labelled once", () => {
  const svg = renderSvg(chartWith([{ x: 20, label: "crash a" }]));
  expect(svg.match(/<title>crash a<\/title>/g)).toHaveLength(2);
  expect(svg.match(/>crash a<\/text>/g)).toHaveLength(1);
});

test("a marker that lasts is shaded until its end, and not beyond the plot", () => {
  const placed = placeMarkers(
    [
      { x: 10, until: 30, label: "cut" },
      { x: 690, until: 900, label: "pause" },
    ],
    scale,
    WIDTH,
  );
  expect(placed.map(({ at, untilAt }) => [at, untilAt])).toEqual([
    [10, 30],
    [690, WIDTH],
  ]);
});

test("markers too close to be drawn one by one become one, which says how many", () => {
  const joins = Array.from({ length: 14 }, (_, i) => ({ x: 100 + i, label: `join m${i}` }));
  const mixed = ["join a", "crash b", "flush"].map((label) => ({ x: 300, label }));
  const two = ["join a", "join b"].map((label) => ({ x: 500, label }));
  const placed = placeMarkers([...joins, ...mixed, ...two], scale, WIDTH);
  const labels = markerLabels(placed, WIDTH).map(({ text }) => text);
  expect(labels.toReversed()).toEqual(["join ×14", "join a +2", "join a, join b"]);
});

const anyMarker = fc.record({
  x: fc.integer({ min: 0, max: WIDTH }),
  label: fc.constantFrom("join a", "store down 8 s", "flush"),
});

/** How many markers a label speaks of. */
function countOf(text: string): number {
  const [, times, more] = /×(\d+)$|\+(\d+)$/.exec(text) ?? [];
  return times === undefined ? Number(more ?? 0) + text.split(", ").length : Number(times);
}

test("labels never overlap, and together they speak of every marker", () => {
  fc.assert(
    fc.property(fc.array(anyMarker, { maxLength: 60 }), (markers) => {
      const labels = markerLabels(placeMarkers(markers, scale, WIDTH), WIDTH);
      const boxes = labels.map(({ at, row, text, isBefore }) => {
        const width = textWidth(text, { size: 11 }) + 4;
        return { row, left: isBefore ? at - width : at, right: isBefore ? at : at + width };
      });
      for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
          expect(a.row !== b.row || a.right <= b.left || b.right <= a.left).toBe(true);
        }
      }
      const counts = labels.map(({ text }) => countOf(text));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(markers.length);
    }),
  );
});

test("a marker outside the axis is not drawn", () => {
  expect(
    placeMarkers(
      [
        { x: -1, label: "a" },
        { x: 701, label: "b" },
        { x: NaN, label: "c" },
      ],
      scale,
      WIDTH,
    ),
  ).toEqual([]);
});
