import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas } from "../../chart/canvas.tsx";
import { cursorAtMs, latest, pin, pinnedAtMs, samples } from "../../live/live-store.ts";
import { rateText } from "../../words/numbers.ts";
import type { LimitScale } from "../model/limit-scale.ts";
import { afterKey, clampTo, snapTo } from "../model/limit-scale.ts";
import type { LimitView } from "../model/limit-view.ts";
import { isSlowed } from "../model/prediction.ts";
import type { Prediction } from "../model/prediction.ts";
import { stackOf } from "../model/stack.ts";
import { bandLooks } from "./band-look.ts";
import type { BandLook } from "./band-look.ts";
import { othersText } from "./draw-bands.ts";
import { drawShares } from "./draw-shares.ts";
import { frameOf, SPAN_MS } from "./shares-frame.ts";

export interface ShareChartProps {
  readonly view: LimitView;
  readonly prediction: Prediction;
  readonly scale: LimitScale;
  /** The limit that is tried, messages a second; undefined without one. */
  readonly tried: number | undefined;
  readonly onTry: (value: number) => void;
}

/** Where the handle stands beside a limit that does not exist yet, as a part of the scale. */
const UNSET_AT = 0.85;

/** Who gets how much: the past, and behind "now" what the limit that is tried would do. */
export function ShareChart(props: ShareChartProps): JSX.Element {
  const { view, prediction, scale, tried } = props;
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const [{ width, height }, setSize] = useState({ width: 0, height: 1 });
  useEffect(() => {
    if (box === null) return undefined;
    const observer = new ResizeObserver(() =>
      setSize({ width: box.clientWidth, height: box.clientHeight }),
    );
    observer.observe(box);
    return () => observer.disconnect();
  }, [box]);

  const past = samples.value;
  const stack = useMemo(() => stackOf(past, view.target), [past, view.target]);
  const cursor = cursorAtMs.value;
  const names = stack.bands.map(({ name }) => name);
  const waiting = new Set(view.producers.filter(isSlowed).map(({ name }) => name));
  const looks = bandLooks(names, waiting);
  const gets = new Map<string, number>();
  for (const [index, { name }] of view.producers.entries())
    gets.set(name, (gets.get(name) ?? 0) + (prediction.gets[index] ?? 0));
  const named = names.reduce(
    (sum, name) => sum + (name === undefined ? 0 : (gets.get(name) ?? 0)),
    0,
  );
  const future = names.map((name) =>
    name === undefined ? Math.max(0, prediction.accepted - named) : (gets.get(name) ?? 0),
  );
  const most = Math.max(scale.most, ...stack.asked.map((asked) => asked ?? 0));
  const nowMs = latest.value?.atMs ?? 0;
  const frame = frameOf(width, height, most);
  const pointAt = (event: PointerEvent | MouseEvent): number | undefined =>
    event.offsetX < frame.left || event.offsetX > frame.nowX
      ? undefined
      : nowMs - ((frame.nowX - event.offsetX) / (frame.nowX - frame.left)) * SPAN_MS;
  return (
    <section class="panel shares" aria-labelledby="shares-title">
      <header>
        <h2 id="shares-title">Who gets how much</h2>
        <span class="sub">drag the line to try another limit</span>
        <span class="sp" />
        <Legend names={names} looks={looks} isLimited={view.reason !== undefined} />
      </header>
      <div class="share-chart">
        <div
          class="plot"
          ref={setBox}
          onPointerMove={(event) => {
            if (pinnedAtMs.value === undefined) cursorAtMs.value = pointAt(event);
          }}
          onPointerLeave={() => {
            if (pinnedAtMs.value === undefined) cursorAtMs.value = undefined;
          }}
          onClick={(event) => {
            const atMs = pointAt(event);
            if (atMs !== undefined) pin(pinnedAtMs.value === undefined ? atMs : undefined);
          }}
        >
          <Canvas
            height={height}
            label="Messages a second of each producer, stacked, over the last four minutes, and what the limit that is tried would do; the table of producers and the effects say the same"
            draw={(sheet) =>
              drawShares(sheet, {
                stack,
                looks,
                nowMs,
                future,
                asked: view.asked,
                isAskedAtLeast: view.isAskedAtLeast,
                isLimited: view.reason !== undefined,
                limit: view.limit?.messages,
                tried,
                most,
                cursorAtMs: cursor,
              })
            }
          />
        </div>
        <Handle
          {...props}
          top={frame.y(tried ?? scale.most * UNSET_AT)}
          valueAt={(y) => frame.valueAt(y)}
        />
      </div>
    </section>
  );
}

/** The line that is dragged: a slider that stands upright. */
function Handle({
  view,
  scale,
  tried,
  onTry,
  top,
  valueAt,
}: ShareChartProps & {
  readonly top: number;
  readonly valueAt: (y: number) => number;
}): JSX.Element {
  const isDragged = useRef(false);
  const value = tried ?? snapTo(scale, scale.most * UNSET_AT);
  return (
    <button
      type="button"
      class={`handle${tried === undefined ? " unset" : ""}`}
      role="slider"
      aria-orientation="vertical"
      aria-label={`Limit of ${view.label}, messages a second`}
      aria-valuemin={scale.least}
      aria-valuemax={scale.most}
      aria-valuenow={Math.round(value)}
      aria-valuetext={tried === undefined ? "no limit" : rateText(tried)}
      style={{ top: `${top.toFixed(1)}px` }}
      onPointerDown={(event) => {
        isDragged.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerUp={() => {
        isDragged.current = false;
      }}
      onPointerCancel={() => {
        isDragged.current = false;
      }}
      onPointerMove={(event) => {
        const box = event.currentTarget.parentElement?.getBoundingClientRect();
        if (isDragged.current && box !== undefined)
          onTry(snapTo(scale, valueAt(event.clientY - box.top)));
      }}
      onKeyDown={(event) => {
        const next = afterKey(scale, clampTo(scale, value), event.key);
        if (next === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        onTry(next);
      }}
    >
      {tried === undefined ? "no limit" : rateText(tried)}
    </button>
  );
}

function Legend({
  names,
  looks,
  isLimited,
}: {
  readonly names: readonly (string | undefined)[];
  readonly looks: readonly BandLook[];
  readonly isLimited: boolean;
}): JSX.Element {
  return (
    <span class="legend">
      {names.map((name, index) => {
        const { token, alpha } = looks[index] ?? { token: "text-3", alpha: 0.3 };
        return (
          <span key={name ?? ""}>
            <svg width="12" height="10" aria-hidden="true">
              <rect width="12" height="10" rx="2" fill={`var(--${token})`} opacity={alpha + 0.12} />
            </svg>
            <b class="name">{name ?? othersText(names.length)}</b>
          </span>
        );
      })}
      <span>
        <svg width="16" height="8" aria-hidden="true">
          <line
            x2="16"
            y1="4"
            y2="4"
            stroke={`var(--${isLimited ? "amber-fill" : "text-3"})`}
            stroke-width="2"
            stroke-dasharray="2 2"
          />
        </svg>
        asked
      </span>
    </span>
  );
}
