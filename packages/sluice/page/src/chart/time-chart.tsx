import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { LiveSample } from "../../../src/live/live-message.ts";
import { cursorAtMs, latest, pin, pinnedAtMs, samples, seconds } from "../live/live-store.ts";
import { WINDOW_MS } from "../live/history.ts";
import { countText } from "../words/numbers.ts";
import { Columns } from "./columns.ts";
import { palette } from "./palette.ts";
import type { Palette, Token } from "./palette.ts";
import { ageMark, marksUpTo, niceMax, timeMarks } from "./scale.ts";
import { useSeen } from "./use-seen.ts";

interface ChartSeries {
  readonly get: (sample: LiveSample) => number | undefined;
  readonly color: Token;
  /** Lengths of strokes and gaps; a line of its own kind can be told without colour. */
  readonly dash?: readonly number[];
  readonly width?: number;
  readonly isFilled?: boolean;
  /** Keeps its value until the next one: a limit. */
  readonly isStepped?: boolean;
  /** On a scale of its own, in the upper half and without marks: another unit. */
  readonly isAside?: boolean;
}

/** What a chart draws beside its series, in CSS pixels. */
export interface Plot {
  readonly pen: CanvasRenderingContext2D;
  readonly palette: Palette;
  readonly samples: readonly LiveSample[];
  readonly x: (atMs: number) => number;
  readonly y: (value: number) => number;
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export interface TimeChartProps {
  /** For screen readers: what it shows. */
  readonly label: string;
  readonly series: readonly ChartSeries[];
  readonly height?: number;
  /** The least top of the scale. */
  readonly leastMax?: number;
  readonly mark?: (value: number) => string;
  readonly marks?: (max: number) => readonly number[];
  /** The largest value that `under` and `over` draw of one sample. */
  readonly extra?: (sample: LiveSample) => number | undefined;
  readonly under?: (plot: Plot) => void;
  readonly over?: (plot: Plot) => void;
  readonly axisWidth?: number;
}

const DEFAULT_HEIGHT = 92;
const DEFAULT_AXIS_WIDTH = 40;
const TIME_AXIS_HEIGHT = 18;
const ASIDE = "aside";

/** From this width on a chart moves by a pixel with each sample, and is drawn with each; px. */
const WIDE = 600;

/** Charts mounted so far: every other one redraws in the other half of a second. */
let mounted = 0;

/**
 * A chart of the last five minutes with the cursor of all charts. It redraws while it is on the screen, once a second or
 * as often as it moves by a pixel; props are read once, when it is made.
 */
export function TimeChart(given: TimeChartProps): JSX.Element {
  const props = useRef(given).current;
  const box = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const [columns] = useState(() => new Columns(props.series.map(({ get }) => get)));
  const [second] = useState(() => seconds[mounted++ % 2 === 0 ? 0 : 1]);
  const height = props.height ?? DEFAULT_HEIGHT;
  const draw = (): void => {
    chart.current?.setData(columns.of(samples.peek()));
    placeCursor(chart.current, line.current);
  };

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const data = columns.of(samples.peek());
    const plot = new uPlot(optionsOf(props, element.clientWidth, height), data, element);
    chart.current = plot;
    const resized = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height });
      placeCursor(plot, line.current);
    });
    resized.observe(element);
    const end = followPointer(plot);
    return () => {
      end();
      resized.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, []);

  const isSeen = useSeen(box, draw);
  useSignalEffect(() => {
    void (isWide(chart.current) ? samples : second).value;
    void palette.value;
    if (isSeen.current) draw();
  });
  useSignalEffect(() => {
    void cursorAtMs.value;
    placeCursor(chart.current, line.current);
  });

  return (
    <div
      class="chart"
      ref={box}
      role="img"
      aria-label={`${props.label}, last five minutes; the numbers beside it say the same`}
      style={{ height: `${height}px` }}
    >
      <div class="cursor-line" ref={line} />
    </div>
  );
}

function isWide(plot: uPlot | undefined): boolean {
  return plot !== undefined && plot.width >= WIDE;
}

function optionsOf(props: TimeChartProps, width: number, height: number): uPlot.Options {
  const { series, mark = countText, marks = marksUpTo, leastMax = 0 } = props;
  // uPlot scales whole numbers of pixels only.
  const font = palette.peek().font(11);
  return {
    width: Math.max(1, width),
    height,
    padding: [6, 6, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => timeRange() },
      y: { range: (u) => [0, maxOf(u, props, leastMax)] },
      [ASIDE]: { range: (_, __, max) => [-niceMax(max * 1.15), niceMax(max * 1.15)] },
    },
    axes: [
      {
        scale: "x",
        size: TIME_AXIS_HEIGHT,
        gap: 3,
        font,
        stroke: inkOf("text-3"),
        grid: { show: false },
        ticks: { show: false },
        // They are drawn below: the outermost marks are aligned to the edges, which uPlot cannot do.
        values: (_, splits) => splits.map(() => ""),
      },
      {
        scale: "y",
        size: props.axisWidth ?? DEFAULT_AXIS_WIDTH,
        gap: 6,
        font,
        stroke: inkOf("text-3"),
        grid: { show: true, stroke: inkOf("line"), width: 1 },
        ticks: { show: false },
        splits: (_, __, ___, max) => [0, ...marks(max)],
        values: (_, splits) => splits.map((value) => (value === 0 ? "" : mark(value))),
      },
    ],
    series: [{}, ...series.map(lineOf)],
    hooks: {
      drawClear: [(u) => drawOn(u, props.under)],
      draw: [(u) => drawOn(u, props.over), (u) => drawOn(u, drawTimeMarks, false)],
    },
  };
}

function lineOf(one: ChartSeries): uPlot.Series {
  const { color, dash, width = 1.6, isFilled = false, isStepped = false, isAside = false } = one;
  return {
    scale: isAside ? ASIDE : "y",
    stroke: () => palette.peek().ink(color),
    width,
    ...(dash !== undefined && { dash: [...dash] }),
    points: { show: false },
    spanGaps: false,
    ...(isStepped && uPlot.paths.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
    ...(isFilled && { fill: (u: uPlot) => fade(u, color) }),
  };
}

/** From the colour at the top to nearly nothing at the bottom. */
function fade(u: uPlot, color: Token): CanvasGradient {
  const { isDark, ink } = palette.peek();
  const gradient = u.ctx.createLinearGradient(0, u.bbox.top, 0, u.bbox.top + u.bbox.height);
  gradient.addColorStop(0, ink(color, isDark ? 0.34 : 0.24));
  gradient.addColorStop(1, ink(color, 0.04));
  return gradient;
}

function maxOf(u: uPlot, { series, extra }: TimeChartProps, leastMax: number): number {
  let max = leastMax;
  for (const [index, one] of series.entries()) {
    if (one.isAside) continue;
    for (const value of u.data[index + 1] ?? [])
      if (typeof value === "number" && value > max) max = value;
  }
  if (extra !== undefined)
    for (const sample of samples.peek()) max = Math.max(max, extra(sample) ?? 0);
  // A line at the very top would look cut.
  return max === 0 ? 1 : niceMax(max * 1.04);
}

function timeRange(): [number, number] {
  const nowMs = latest.peek()?.atMs ?? 0;
  return [nowMs - WINDOW_MS, nowMs];
}

/** Draws in CSS pixels. uPlot counts in device pixels, and remembers the colours of its pen: both are put back. */
function drawOn(u: uPlot, draw: ((plot: Plot) => void) | undefined, isClipped = true): void {
  if (draw === undefined) return;
  const scale = devicePixelRatio;
  const { ctx: pen, bbox } = u;
  pen.save();
  if (isClipped) {
    pen.beginPath();
    pen.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
    pen.clip();
  }
  pen.scale(scale, scale);
  draw({
    pen,
    palette: palette.peek(),
    samples: samples.peek(),
    x: lineFrom(u.scales["x"], bbox.left / scale, bbox.width / scale),
    y: lineFrom(u.scales["y"], (bbox.top + bbox.height) / scale, -bbox.height / scale),
    top: bbox.top / scale,
    bottom: (bbox.top + bbox.height) / scale,
    left: bbox.left / scale,
    right: (bbox.left + bbox.width) / scale,
  });
  pen.restore();
}

/** Places on a linear scale, in CSS pixels. `valToPos` does the same with ten times the work. */
function lineFrom(
  { min = 0, max = 1 }: uPlot.Scale = {},
  from: number,
  length: number,
): (value: number) => number {
  const perUnit = length / (max - min || 1);
  return (value) => from + (value - min) * perUnit;
}

function drawTimeMarks({ pen, palette: { font, ink }, x, left, right, bottom }: Plot): void {
  const [fromMs, nowMs] = timeRange();
  pen.font = font(10.5);
  pen.fillStyle = ink("text-3");
  for (const ageMs of timeMarks(nowMs - fromMs, right - left)) {
    const at = x(nowMs - ageMs);
    pen.textAlign = ageMs === 0 ? "right" : at < left + 14 ? "left" : "center";
    pen.fillText(ageMark(ageMs), ageMs === 0 ? right : at, bottom + 14);
  }
}

/** The pointer moves the cursor of all charts; a click pins the instant, another click lets it go. */
function followPointer(u: uPlot): () => void {
  const at = (event: PointerEvent | MouseEvent): number => u.posToVal(event.offsetX, "x");
  const move = (event: PointerEvent): void => {
    if (pinnedAtMs.peek() === undefined) cursorAtMs.value = at(event);
  };
  const click = (event: MouseEvent): void =>
    pin(pinnedAtMs.peek() === undefined ? at(event) : undefined);
  u.over.addEventListener("pointermove", move);
  u.over.addEventListener("pointerleave", leave);
  u.over.addEventListener("click", click);
  return () => {
    u.over.removeEventListener("pointermove", move);
    u.over.removeEventListener("pointerleave", leave);
    u.over.removeEventListener("click", click);
  };
}

function leave(): void {
  if (pinnedAtMs.peek() === undefined) cursorAtMs.value = undefined;
}

function inkOf(token: Token): () => string {
  return () => palette.peek().ink(token);
}

function placeCursor(u: uPlot | undefined, line: HTMLElement | null): void {
  if (u === undefined || line === null) return;
  const atMs = cursorAtMs.peek();
  const { min, max } = u.scales["x"] ?? {};
  const isSeen =
    atMs !== undefined &&
    typeof min === "number" &&
    typeof max === "number" &&
    atMs >= min &&
    atMs <= max;
  line.style.visibility = isSeen ? "visible" : "hidden";
  if (!isSeen) return;
  const scale = devicePixelRatio;
  line.style.transform = `translateX(${Math.round(u.valToPos(atMs, "x") + u.bbox.left / scale)}px)`;
  line.style.top = `${u.bbox.top / scale}px`;
  line.style.height = `${u.bbox.height / scale}px`;
  line.style.bottom = "auto";
}
