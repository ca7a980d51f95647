import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Chart, Panel, Point, Series } from "./chart.ts";
import { renderSvg } from "./draw/svg.ts";

const panelOf = (label: string, shape: Series["shape"], points: readonly Point[]): Panel => ({
  y: { label: `axis of ${label}` },
  series: [{ label, shape, points }],
});

const pointsOf = (...ys: readonly (number | undefined)[]): Point[] => ys.map((y, x) => ({ x, y }));

const chartOf = (first: Panel, ...below: readonly Panel[]): Chart => ({
  title: "a title",
  x: { label: "time", unit: "s" },
  ...first,
  below,
});

interface Drawn {
  readonly legendTop: number;
  readonly legendBottom: number;
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  readonly paths: readonly string[];
}

/** Where the panels of a document lie, and the data drawn in each. */
function drawnIn(svg: string): Drawn[] {
  const panel =
    /translate\(24 (\d+)\)(?<legend>[^]*?)<\/g>[^]*?translate\((\d+) (\d+)\)[^]*?<svg x="-3" y="-3" width="\d+" height="(\d+)"(?<marks>[^]*?)(?:<\/svg>|\/>)/g;
  return Array.from(svg.matchAll(panel), ({ groups = {}, ...match }) => {
    const [legendTop, left, top, height] = [match[1], match[3], match[4], match[5]].map(Number);
    const { legend = "", marks = "" } = groups;
    const rows = Array.from(legend.matchAll(/<text x="\S+" y="(\d+)"/g), ([, y]) => Number(y));
    return {
      legendTop: legendTop ?? NaN,
      legendBottom: (legendTop ?? NaN) + Math.max(0, ...rows),
      left: left ?? NaN,
      top: top ?? NaN,
      // The data may reach three pixels over each edge.
      bottom: (top ?? NaN) + (height ?? NaN) - 6,
      paths: Array.from(marks.matchAll(/ d="([^"]*)"/g), ([, path = ""]) => path),
    };
  });
}

const textsOf = (svg: string): string[] =>
  Array.from(svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g), ([, text = ""]) => text);

const columnsOf = (svg: string): number => svg.match(/ d="M\S+ 0v\d+"/g)?.length ?? 0;

const startOf = (path: string | undefined): number => Number(/^M([\d.]+)/.exec(path ?? "")?.[1]);

test("a chart with nothing below is drawn as one that does not speak of it", () => {
  const { below, ...chart } = chartOf(panelOf("limit", "step", pointsOf(1, 2)));
  expect(below).toEqual([]);
  expect(renderSvg({ ...chart, below: [] })).toBe(renderSvg(chart));
});

test("every panel has its own axis and legend, and only the lowest shows the x axis", () => {
  const svg = renderSvg(
    chartOf(
      panelOf("limit", "step", pointsOf(7, 16)),
      panelOf("round trip", "line", pointsOf(300, 120)),
      panelOf("goodput", "bar", pointsOf(4_000, 5_000)),
    ),
  );
  expect(textsOf(svg).join(" ")).toBe(
    "a title " +
      "limit axis of limit 0 5 10 15 20 " +
      "round trip axis of round trip 0 50 100 150 200 250 300 " +
      "goodput axis of goodput time (s) 0 1,000 2,000 3,000 4,000 5,000 0 0.5 1.0 1.5 2.0",
  );
});

test("grid lines lead from panel to panel, and a chart of one panel has none", () => {
  const panel = panelOf("limit", "step", pointsOf(7, 16));
  expect(columnsOf(renderSvg(chartOf(panel)))).toBe(0);
  expect(columnsOf(renderSvg(chartOf(panel, panel, panel)))).toBe(3 * 5);
});

test("the widest label of any panel has room at the left", () => {
  const narrow = panelOf("limit", "step", pointsOf(1, 2));
  const wide = panelOf("round trip", "line", pointsOf(1, 5_000));
  const lefts = [chartOf(narrow, wide), chartOf(wide, narrow), chartOf(wide)].map(
    (chart) => drawnIn(renderSvg(chart))[0]?.left,
  );
  expect(new Set(lefts).size).toBe(1);
});

test("the same x stands at the same place in every panel, however wide the labels", () => {
  const first = { x: fc.integer({ min: 0, max: 10 }), y: fc.integer({ min: 0, max: 1_000_000 }) };
  fc.assert(
    fc.property(fc.array(fc.record(first), { minLength: 2, maxLength: 4 }), (starts) => {
      const [panel, ...below] = starts.map(({ x, y }) =>
        panelOf("a label", "line", [
          { x, y },
          { x: 20, y: 1 },
        ]),
      );
      if (panel === undefined) return;
      const drawn = drawnIn(renderSvg(chartOf(panel, ...below)));
      expect(new Set(drawn.map(({ left }) => left)).size).toBe(1);
      const from = Math.min(...starts.map(({ x }) => x));
      const end = Number(/[LH]([\d.]+)/.exec(drawn[0]?.paths[0] ?? "")?.[1]);
      for (const [index, { x }] of starts.entries()) {
        const expected = (end * (x - from)) / (20 - from);
        expect(startOf(drawn[index]?.paths[0])).toBeCloseTo(expected, 1);
      }
    }),
  );
});

test("panels follow one another without touching, and all of them lie within the document", () => {
  const anyPanel = fc
    .record({
      seriesCount: fc.integer({ min: 0, max: 30 }),
      size: fc.integer({ min: -9, max: 99 }),
    })
    .map(({ seriesCount, size }) => {
      const { y, series } = panelOf("a series with a rather long name", "line", pointsOf(1, size));
      return { y, series: Array.from({ length: seriesCount }, () => series).flat() };
    });
  fc.assert(
    fc.property(anyPanel, fc.array(anyPanel, { minLength: 1, maxLength: 4 }), (panel, below) => {
      const svg = renderSvg(chartOf(panel, ...below));
      const drawn = drawnIn(svg);
      expect(drawn).toHaveLength(1 + below.length);
      let above = 48;
      for (const { legendTop, legendBottom, top, bottom } of drawn) {
        expect(legendTop).toBeGreaterThanOrEqual(above);
        // The title of the axis lies between.
        expect(top).toBeGreaterThanOrEqual(legendBottom + 36);
        expect(bottom - top).toBe(140);
        above = bottom + 20;
      }
      const height = Number(/ height="(\d+)" viewBox/.exec(svg)?.[1]);
      expect(height).toBe((drawn.at(-1)?.bottom ?? NaN) + 58);
    }),
  );
});

test("bars are as wide as the x of their own panel are apart", () => {
  const often = Array.from({ length: 1_000 }, (_, index) => ({ x: index / 100, y: 5 }));
  const seldom = Array.from({ length: 10 }, (_, x) => ({ x, y: 5 }));
  const svg = renderSvg(chartOf(panelOf("limit", "step", often), panelOf("ok", "bar", seldom)));
  const [, bars] = drawnIn(svg);
  const [left = NaN, right = NaN] = (/^M(\S+) \S+H(\S+)V/.exec(bars?.paths[0] ?? "") ?? [])
    .slice(1)
    .map(Number);
  expect(right - left).toBeGreaterThan(50);
});

test("a panel without a value that can be drawn says so, and the others are drawn", () => {
  const svg = renderSvg(
    chartOf(panelOf("limit", "step", pointsOf(1, 2)), panelOf("round trip", "line", [])),
  );
  expect(textsOf(svg).filter((text) => text === "no data")).toHaveLength(1);
  expect(drawnIn(svg).map(({ paths }) => paths.length)).toEqual([1, 0]);
});

test("what is cut off above is said in its panel, what is cut off at the end is said once", () => {
  const cut = panelOf("round trip", "line", pointsOf(10, 90, 10));
  const chart = chartOf(
    panelOf("limit", "step", pointsOf(1)),
    { ...cut, y: { label: "ms", max: 50 } },
    panelOf("goodput", "bar", pointsOf(1, 2, 3)),
  );
  const notes = textsOf(renderSvg({ ...chart, x: { label: "time", max: 1.5 } })).filter((text) =>
    text.includes("cut off"),
  );
  expect(notes).toEqual(["time beyond 1.5 cut off", "▲ round trip above 50 cut off, up to 90"]);
});

test("panels of 36,000 points each make a small file", () => {
  const points = Array.from({ length: 36_000 }, (_, x) => ({ x, y: (x * 7_919) % 1_000 }));
  const [first, ...below] = (["step", "line", "bar"] as const).map((shape) =>
    panelOf(shape, shape, points),
  );
  if (first === undefined) throw new Error("there are three shapes");
  expect(renderSvg(chartOf(first, ...below)).length).toBeLessThan(200_000);
});
