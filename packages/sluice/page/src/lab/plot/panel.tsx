import type { Axis, Series } from "@sluice/lab/browser";
import type { JSX } from "preact";
import type { Ink } from "./ink.ts";
import { edgeOf } from "./bands.ts";
import type { Band } from "./bands.ts";
import { areaPath, bandPath, linePath } from "./path.ts";
import type { Projection } from "./path.ts";

export interface InkedSeries {
  readonly series: Series;
  readonly ink: Ink;
  /** Of a part of a whole: where it lies on the parts before it. */
  readonly band?: Band | undefined;
}

export interface PanelProps {
  readonly id: string;
  readonly y: Axis;
  readonly lines: readonly InkedSeries[];
  readonly top: number;
  readonly yMax: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly endX: number;
  readonly projectX: (value: number) => number;
  readonly tickText: (value: number) => string;
  /** A low panel below the first: its name instead of ticks. */
  readonly isStrip: boolean;
}

/** One axis and its lines. Colours are the theme's, so that a change of the theme draws nothing anew. */
export function PanelLines(props: PanelProps): JSX.Element {
  const { id, lines, top, yMax, height, left, right, endX, projectX, tickText, isStrip } = props;
  const bottom = top + height;
  const project: Projection = {
    x: projectX,
    y: (value) => bottom - (Math.min(Math.max(value, 0), yMax) / yMax) * height,
  };
  const ticks = isStrip ? [0] : [0, yMax / 2, yMax];
  return (
    <g>
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            class={tick === 0 ? "axis" : "grid"}
            x1={left}
            x2={right}
            y1={Math.round(project.y(tick)) + 0.5}
            y2={Math.round(project.y(tick)) + 0.5}
          />
          {!isStrip && (
            <text class="tick" x={left - 8} y={project.y(tick) + 3.5} text-anchor="end">
              {tickText(tick)}
            </text>
          )}
        </g>
      ))}
      {isStrip && (
        <text class="tick" x={left - 8} y={bottom - height / 2 + 3.5} text-anchor="end">
          {props.y.label}
        </text>
      )}
      {lines.map(({ series, ink, band }, index) => (
        <Line
          key={series.label}
          id={`${id}-${index}`}
          series={series}
          ink={ink}
          band={band}
          project={project}
          endX={endX}
        />
      ))}
    </g>
  );
}

function Line({
  id,
  series,
  ink,
  band,
  project,
  endX,
}: InkedSeries & {
  readonly id: string;
  readonly project: Projection;
  readonly endX: number;
}): JSX.Element {
  const color = `var(--${ink.color})`;
  if (band !== undefined)
    return (
      <>
        <path d={bandPath(band, project, endX)} fill={color} opacity="0.4" />
        <path
          d={linePath({ ...series, points: edgeOf(band) }, project, endX)}
          fill="none"
          stroke={color}
          stroke-width="1.2"
        />
      </>
    );
  return (
    <>
      {ink.isFilled && (
        <>
          <linearGradient id={id} x1="0" y1="0" x2="0" y2="1">
            <stop offset="0" stop-color={color} stop-opacity="0.36" />
            <stop offset="1" stop-color={color} stop-opacity="0.06" />
          </linearGradient>
          <path d={areaPath(series, project, endX)} fill={`url(#${id})`} />
        </>
      )}
      <path
        d={linePath(series, project, endX)}
        fill="none"
        stroke={color}
        stroke-width="1.6"
        stroke-linejoin="round"
        stroke-dasharray={ink.dash}
      />
    </>
  );
}
