import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Chart, Point, Series } from "../chart.ts";
import { renderSvg } from "./svg.ts";

const chartOf = (shape: Series["shape"], points: readonly Point[], yMax?: number): Chart => ({
  title: "a title",
  x: { label: "time", unit: "s" },
  y: { label: "tokens", ...(yMax === undefined ? {} : { max: yMax }) },
  series: [{ label: "a label", shape, points }],
});

const pointsOf = (...ys: readonly (number | undefined)[]): Point[] => ys.map((y, x) => ({ x, y }));

/** The drawn data only, without axes and texts. */
const marksOf = (svg: string): string => /<svg x="[^]*?<\/svg>/.exec(svg)?.[0] ?? "";

const pathsOf = (svg: string): string[] =>
  Array.from(marksOf(svg).matchAll(/ d="([^"]*)"/g), ([, path = ""]) => path);

/** Names the first thing that is not well-formed: a tag out of place or a character not escaped. */
function faultOf(xml: string): string | undefined {
  const token =
    /<(?<end>\/?)(?<name>[a-z]+)(?: [\w-]+="(?:[^"<&]|&\w+;)*")*(?<empty>\/?)>|(?:[^<>&]|&\w+;)+/gu;
  const open: string[] = [];
  let position = 0;
  for (const match of xml.matchAll(token)) {
    if (match.index !== position) return xml.slice(position, position + 80);
    position += match[0].length;
    const { end, name, empty } = match.groups ?? {};
    if (name === undefined || empty === "/") continue;
    if (end !== "/") open.push(name);
    else if (open.pop() !== name) return match[0];
  }
  return position < xml.length ? xml.slice(position, position + 80) : open.at(-1);
}

/** By XML 1.0, production 2. */
function isAllowed(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return "\t\n\r".includes(character);
  return code < 0xd800 || (code > 0xdfff && code !== 0xfffe && code !== 0xffff);
}

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const anyPoint = fc.record({ x: finite, y: fc.option(finite, { nil: undefined }) });
const anySeries = fc.record({
  label: fc.constant("a label"),
  shape: fc.constantFrom("line", "step", "bar"),
  points: fc.array(anyPoint, { maxLength: 12 }),
});
const anyAxis = fc.record(
  { label: fc.constant("an axis"), max: finite, isWhole: fc.boolean() },
  { requiredKeys: ["label"] },
);
const anyMarker = fc.record(
  { x: finite, label: fc.constant("an event"), until: finite },
  { requiredKeys: ["x", "label"] },
);
const anyPanel = { y: anyAxis, series: fc.array(anySeries, { maxLength: 9 }) };
const anyChart: fc.Arbitrary<Chart> = fc.record(
  {
    title: fc.constant("a title"),
    x: anyAxis,
    ...anyPanel,
    below: fc.array(fc.record(anyPanel), { maxLength: 3 }),
    markers: fc.array(anyMarker, { maxLength: 9 }),
  },
  { requiredKeys: ["title", "x", "y", "series"] },
);

test("any finite data gives a well-formed document of finite numbers", () => {
  fc.assert(
    fc.property(anyChart, fc.integer({ min: 100, max: 2000 }), (chart, width) => {
      const svg = renderSvg(chart, { width });
      expect(faultOf(svg)).toBeUndefined();
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    }),
    { numRuns: 150 },
  );
});

test("any text gives a well-formed document of characters that XML allows", () => {
  const anyText = fc.string({ unit: "binary", maxLength: 30 });
  fc.assert(
    fc.property(anyText, anyText, anyText, (title, unit, label) => {
      const series = [{ label, shape: "line", points: [] }] as const;
      const svg = renderSvg({ title, subtitle: title, x: { label, unit }, y: { label }, series });
      expect(faultOf(svg)).toBeUndefined();
      expect(Array.from(svg).filter((character) => !isAllowed(character))).toEqual([]);
    }),
  );
});

test("markup in a text is shown and not obeyed", () => {
  const svg = renderSvg({ ...chartOf("line", []), title: `<b> & "it's" $&`, subtitle: "\0\uD800" });
  expect(svg).toContain(">&lt;b&gt; &amp; &quot;it&apos;s&quot; $&amp;</text>");
  expect(svg).toContain(">\uFFFD\uFFFD</text>");
});

test("the same chart gives the same bytes, in whatever order its points come", () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyPoint, { selector: ({ x }) => x }), (points) => {
      const svg = renderSvg(chartOf("step", points));
      expect(renderSvg(chartOf("step", points))).toBe(svg);
      expect(renderSvg(chartOf("step", points.toReversed()))).toBe(svg);
    }),
  );
});

test("a chart without a value that can be drawn says so", () => {
  expect(renderSvg(chartOf("line", []))).toContain(">no data</text>");
  expect(renderSvg(chartOf("line", pointsOf(undefined, NaN)))).toContain(">no data</text>");
  expect(renderSvg(chartOf("line", pointsOf(0)))).not.toContain(">no data</text>");
});

test("the axes of a chart without points go from 0 to 1", () => {
  expect(renderSvg(chartOf("line", [])).match(/>1\.0<\/text>/g)).toHaveLength(2);
});

test("a line is interrupted by a gap, and a sample between gaps is a dot", () => {
  const svg = renderSvg(chartOf("line", pointsOf(1, 2, undefined, 2, undefined, 1, 2)));
  expect(pathsOf(svg)).toEqual([
    expect.stringMatching(/^M[^ML]+L[^ML]+M[^ML]+L[^ML]+$/),
    expect.stringMatching(/^M[^ML]+h0$/),
  ]);
});

test("a step holds its value until the next sample, a gap, or for one more step at the end", () => {
  const svg = renderSvg(chartOf("step", pointsOf(1, 2, undefined, 2)));
  const [path = ""] = pathsOf(svg);
  expect(path).toMatch(/^M\S+ \S+H\S+V\S+H\S+M\S+ \S+H\S+$/);
  const rights = Array.from(path.matchAll(/H([\d.]+)/g), ([, right]) => Number(right));
  const width = rights.at(-1) ?? NaN;
  expect(rights.map((right) => right / width)).toEqual([
    expect.closeTo(0.25),
    expect.closeTo(0.5),
    1,
  ]);
});

test("a bar of zero is not drawn, and any other is at least a pixel high", () => {
  const [path = ""] = pathsOf(renderSvg(chartOf("bar", pointsOf(0, undefined, 1, 5_000))));
  const bars = Array.from(path.matchAll(/M\S+ ([\d.]+)V([\d.]+)/g), ([, zero, top]) => [
    Number(zero),
    Number(top),
  ]);
  expect(bars).toHaveLength(2);
  const [[zero = NaN, top = NaN] = []] = bars;
  expect(zero - top).toBe(1);
});

test("bars of several series stand side by side, behind every line", () => {
  const points = pointsOf(3, 4);
  const shapes = ["line", "bar", "bar"] as const;
  const series = shapes.map((shape) => ({ label: shape, shape, points }));
  const [first = "", second = "", line] = pathsOf(renderSvg({ ...chartOf("bar", []), series }));
  const rightOfFirst = /H([\d.]+)/.exec(first)?.[1];
  expect(second).toMatch(new RegExp(`^M${rightOfFirst} `));
  expect(line).toContain("L");
});

test("values beyond the end of an axis are marked and named", () => {
  const svg = renderSvg(chartOf("step", pointsOf(7_500, 38, 5_000, 9_765), 6_000));
  expect(svg).toContain(">▲ a label above 6,000 cut off, up to 9,765</text>");
  expect(pathsOf(svg)[1]?.match(/M/g)).toHaveLength(2);
  const late = renderSvg({ ...chartOf("line", pointsOf(1, 2, 3)), x: { label: "time", max: 1.5 } });
  expect(late).toContain(">time beyond 1.5 cut off</text>");
});

test("nothing is said to be cut off when all is shown", () => {
  const svg = renderSvg(chartOf("step", pointsOf(5_000, 6_000), 6_000));
  expect(svg).not.toContain("cut off");
  expect(pathsOf(svg)).toHaveLength(1);
});

function plotHeight(seriesCount: number): string | undefined {
  const chart = chartOf("line", pointsOf(1, 2));
  const series = Array.from({ length: seriesCount }, () => chart.series).flat();
  return / height="([\d.]+)"/.exec(marksOf(renderSvg({ ...chart, series })))?.[1];
}

test("a longer legend makes a taller document and leaves the plot its size", () => {
  expect(plotHeight(1)).toBeDefined();
  expect(plotHeight(30)).toBe(plotHeight(1));
});

test("a million points make a small file", () => {
  const points = Array.from({ length: 1_000_000 }, (_, x) => ({ x, y: (x * 7_919) % 1_000 }));
  for (const shape of ["line", "step", "bar"] as const) {
    expect(renderSvg(chartOf(shape, points)).length).toBeLessThan(100_000);
  }
});

test("every colour has one for dark pages", () => {
  const shapes = ["line", "bar", "step"] as const;
  const series = Array.from({ length: 30 }, (_, index) => ({
    label: `s${index}`,
    shape: shapes[index % 3] ?? "line",
    points: pointsOf(index, 3),
  }));
  const markers = [{ x: 1, label: "an event", until: 2 }];
  const svg = renderSvg({ ...chartOf("line", []), series, markers });
  const used = Array.from(svg.matchAll(/ (fill|stroke)="(#\w+)"/g), ([, paint, colour]) => {
    return `[${paint}="${colour}"]{${paint}:#`;
  });
  expect(used.length).toBeGreaterThan(30);
  for (const rule of new Set(used)) expect(svg).toContain(`.sluice-chart ${rule}`);
});

test("the legend has the series in the order in which they are given", () => {
  const ends = { low: 1, gone: undefined, high: 9 };
  const series: Series[] = Object.entries(ends).map(([label, y]) => ({
    label,
    shape: "line",
    points: pointsOf(4, y),
  }));
  const svg = renderSvg({ ...chartOf("line", []), series });
  const names = Array.from(svg.matchAll(/>(low|gone|high)<\/text>/g), ([, name]) => name);
  expect(names).toEqual(["low", "gone", "high"]);
});

test("an axis of whole values has whole ticks", () => {
  const chart = chartOf("step", pointsOf(1, 2, 1));
  const svg = renderSvg({
    ...chart,
    x: { label: "n", isWhole: true },
    y: { label: "members", isWhole: true },
  });
  expect(svg).not.toMatch(/>\d+\.\d+<\/text>/);
  expect(renderSvg(chart)).toMatch(/>\d+\.\d+<\/text>/);
});
