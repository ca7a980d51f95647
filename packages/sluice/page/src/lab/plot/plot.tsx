import type { Chart, Panel, Series } from "@sluice/lab/browser";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { countText } from "../../words/numbers.ts";
import { bandsOf } from "./bands.ts";
import { inkOf, isPart, partInk } from "./ink.ts";
import type { Ink } from "./ink.ts";
import { PanelLines } from "./panel.tsx";
import type { InkedSeries } from "./panel.tsx";
import { valueAtX } from "./path.ts";
import { niceTop, timeTicks } from "./scale.ts";

const LEFT = 64;
const RIGHT = 8;
const TOP = 8;
const AXIS = 20;
const STRIP = 48;
const STRIP_GAP = 10;
/** Panels below the first that have room. */
const STRIPS_MAX = 2;
/** Markers with their words; more would cover each other. */
const MARKERS_MAX = 12;

/** A panel with the ink of each of its lines. */
export interface InkedPanel {
  readonly y: Panel["y"];
  readonly lines: readonly InkedSeries[];
}

/** The panels of a chart; lines that are switched off are left out. */
export function inkedPanels(
  chart: Chart,
  color: string,
  hidden: ReadonlySet<string>,
): InkedPanel[] {
  const isShown = ({ label, points }: Series): boolean => !hidden.has(label) && points.length > 0;
  return [chart, ...(chart.below ?? [])].slice(0, 1 + STRIPS_MAX).map(({ y, series }) => {
    const parts = series.filter((each) => isPart(each, y.label));
    const shownParts = parts.filter(isShown);
    const bands = bandsOf(shownParts);
    const lines = series.filter(isShown).map((each) =>
      parts.length > 1 && parts.includes(each)
        ? {
            series: each,
            ink: partInk(parts.indexOf(each), color),
            band: bands[shownParts.indexOf(each)],
          }
        : { series: each, ink: inkOf(each, series.indexOf(each), color) },
    );
    return { y, lines };
  });
}

/** The top of each panel's axis, so that two charts can have the same. */
export function topsOf(panels: readonly InkedPanel[]): number[] {
  return panels.map(({ y, lines }) => {
    const most = lines.reduce(
      (top, { series, band }) =>
        (band?.upper ?? series.points).reduce(
          (high, point) => Math.max(high, finite(point.y)),
          top,
        ),
      0,
    );
    return niceTop(Math.max(1e-9, Math.min(most, y.max ?? Infinity)) * 1.02);
  });
}

export interface PlotProps {
  readonly id: string;
  readonly label: string;
  readonly panels: readonly InkedPanel[];
  readonly tops: readonly number[];
  readonly markers?: Chart["markers"];
  readonly height: number;
  readonly cursor: number | undefined;
  readonly onCursor: (x: number | undefined) => void;
}

/** A chart of a run with a cursor. Arrow keys move the cursor while the chart has the focus. */
export function Plot(props: PlotProps): JSX.Element {
  const { id, label, panels, tops, cursor, onCursor, markers = [] } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [from, until] = rangeOf(panels);
  const right = Math.max(LEFT + 40, width - RIGHT);
  const projectX = (value: number): number =>
    LEFT + ((value - from) / (until - from)) * (right - LEFT);
  const strips = panels.length - 1;
  // One strip fits into the given height; each further one makes the chart higher, not its first panel lower.
  const height = props.height + Math.max(0, strips - 1) * (STRIP + STRIP_GAP);
  const mainHeight = height - TOP - AXIS - strips * (STRIP + STRIP_GAP);
  const bottom = height - AXIS;
  const toX = (event: PointerEvent): void => {
    const offset = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    const x = from + ((offset - LEFT) / (right - LEFT)) * (until - from);
    onCursor(x < from || x > until ? undefined : Math.floor(x));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") onCursor(undefined);
    if (step === undefined) return;
    const next = (cursor ?? from) + step * (event.shiftKey ? 10 : 1);
    onCursor(Math.min(until, Math.max(from, next)));
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="plot"
      ref={box}
      role="img"
      aria-label={`${label}; the table of results says what it comes to. Arrow keys move the cursor.`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerMove={toX}
      onPointerDown={toX}
      onPointerLeave={() => onCursor(undefined)}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          {panels.map((panel, index) => {
            const top =
              index === 0 ? TOP : TOP + mainHeight + STRIP_GAP + (index - 1) * (STRIP + STRIP_GAP);
            return (
              <PanelLines
                key={panel.y.label}
                id={`${id}-${index}`}
                y={panel.y}
                lines={panel.lines}
                top={top}
                yMax={tops[index] ?? 1}
                height={index === 0 ? mainHeight : STRIP}
                left={LEFT}
                right={right}
                endX={until}
                projectX={projectX}
                tickText={countText}
                isStrip={index > 0}
              />
            );
          })}
          {markers.slice(0, MARKERS_MAX).map(({ x, label: name }, index) => (
            <g key={index} class="marker">
              <line x1={projectX(x)} x2={projectX(x)} y1={TOP} y2={bottom} />
              {isApart(markers, index, (at) => projectX(at)) && (
                <text class="tick" x={projectX(x) + 4} y={TOP + 8}>
                  {name}
                </text>
              )}
            </g>
          ))}
          {timeTicks(from, until, right - LEFT).map((tick) => (
            <text
              key={tick}
              class="tick"
              x={projectX(tick)}
              y={height - 5}
              text-anchor={anchorOf(projectX(tick), right)}
            >
              {tick === 0 ? "0" : `${countText(tick)} s`}
            </text>
          ))}
          {cursor !== undefined && (
            <line class="cursor" x1={projectX(cursor)} x2={projectX(cursor)} y1={TOP} y2={bottom} />
          )}
        </svg>
      )}
    </div>
  );
}

/** What a line shows at the cursor, for the legend. */
export function cursorText(line: InkedSeries, cursor: number | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const value = valueAtX(line.series, cursor);
  return value === undefined ? "–" : countText(value);
}

export function LegendSwatch({ ink }: { readonly ink: Ink }): JSX.Element {
  return (
    <svg width="16" height="8" aria-hidden="true">
      <line
        x1="0"
        y1="4"
        x2="16"
        y2="4"
        stroke={`var(--${ink.color})`}
        stroke-width="2"
        stroke-dasharray={ink.dash}
      />
      {ink.isFilled && (
        <rect y="4" width="16" height="4" fill={`var(--${ink.color})`} opacity=".35" />
      )}
    </svg>
  );
}

/** Whether the words of a marker have room before the next one, and after the one before. */
function isApart(
  markers: readonly { readonly x: number; readonly label: string }[],
  index: number,
  projectX: (x: number) => number,
): boolean {
  const [marker, next] = [markers[index], markers[index + 1]];
  if (marker === undefined) return false;
  const room = marker.label.length * 6 + 8;
  return next === undefined || projectX(next.x) - projectX(marker.x) > room;
}

function rangeOf(panels: readonly InkedPanel[]): [number, number] {
  let [from, until] = [Infinity, -Infinity];
  for (const { lines } of panels)
    for (const { series } of lines)
      for (const [i, { x }] of series.points.entries()) {
        from = Math.min(from, x);
        // A bar is as wide as the distance to the one before it.
        const width = series.shape === "bar" ? x - (series.points[i - 1]?.x ?? x) : 0;
        until = Math.max(until, x + width);
      }
  if (!Number.isFinite(from)) return [0, 1];
  return [from, Math.max(until, from + 1)];
}

function anchorOf(x: number, right: number): "start" | "middle" | "end" {
  if (x < LEFT + 8) return "start";
  return x > right - 14 ? "end" : "middle";
}

function finite(y: number | undefined): number {
  return y !== undefined && Number.isFinite(y) ? y : 0;
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return width;
}
