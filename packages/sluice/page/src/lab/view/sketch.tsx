import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { countText } from "../../words/numbers.ts";
import { setTraffic, state } from "../lab-store.ts";
import type { Traffic } from "../model/state.ts";

const WIDTH = 320;
const HEIGHT = 60;
const PAD = 4;
/** Seconds at each side of the pointer that a stroke changes. */
const BRUSH_S = 1;
/** What one key press changes, as a part of the peak. */
const KEY_PART = 0.05;

/** The curve as it is, to be drawn over. With the keyboard: left and right choose a second, up and down its amount. */
export function Sketch(): JSX.Element {
  const { traffic, kind } = state.value;
  const { values } = traffic;
  const [at, setAt] = useState(0);
  const isDrawing = useRef(false);
  const last = useRef<{ readonly second: number; readonly part: number } | undefined>(undefined);
  const count = Math.max(2, values.length);
  const x = (second: number): number => PAD + (second / (count - 1)) * (WIDTH - 2 * PAD);
  const y = (part: number): number => HEIGHT - PAD - Math.min(1, part) * (HEIGHT - 2 * PAD);
  const change = (second: number, part: number): void => {
    const from = last.current ?? { second, part };
    setTraffic({ ...drawn(traffic, from, { second, part }), shape: "drawn" });
    last.current = { second, part };
  };
  const place = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const second = ((event.clientX - box.left) / box.width) * (count - 1);
    const part =
      1 - ((event.clientY - box.top) / box.height - PAD / HEIGHT) / (1 - (2 * PAD) / HEIGHT);
    change(clamp(Math.round(second), 0, count - 1), clamp(part, 0, 1));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const grow = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const factor = event.shiftKey ? 10 : 1;
    if (move !== undefined) setAt(clamp(at + move * factor, 0, count - 1));
    else if (grow !== undefined) {
      last.current = undefined;
      change(at, clamp((values[at] ?? 0) + grow * KEY_PART * (event.shiftKey ? 4 : 1), 0, 1));
      last.current = undefined;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const line = values
    .map(
      (part, second) => `${second === 0 ? "M" : "L"}${x(second).toFixed(1)} ${y(part).toFixed(1)}`,
    )
    .join("");
  const amount = countText((values[at] ?? 0) * traffic.peak);
  return (
    <svg
      class="sketch"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="slider"
      tabIndex={0}
      aria-label={`${kind.curve.name} over time: left and right choose a second, up and down change it`}
      aria-valuemin={0}
      aria-valuemax={traffic.peak}
      aria-valuenow={Math.round((values[at] ?? 0) * traffic.peak)}
      aria-valuetext={`second ${at}: ${amount}${kind.curve.unit}`}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        isDrawing.current = true;
        last.current = undefined;
        place(event);
      }}
      onPointerMove={(event) => {
        if (isDrawing.current) place(event);
      }}
      onPointerUp={() => {
        isDrawing.current = false;
        last.current = undefined;
      }}
    >
      {line !== "" && (
        <>
          <path
            class="area"
            d={`${line}L${x(count - 1)} ${HEIGHT - PAD}L${x(0)} ${HEIGHT - PAD}Z`}
          />
          <path class="line" d={line} />
          <line class="at" x1={x(at)} x2={x(at)} y1="0" y2={HEIGHT} />
        </>
      )}
    </svg>
  );
}

/** A stroke from one place to another, with the seconds between them. */
function drawn(
  traffic: Traffic,
  from: { second: number; part: number },
  to: { second: number; part: number },
): Traffic {
  const [first, final] = from.second <= to.second ? [from, to] : [to, from];
  const values = traffic.values.map((value, second) => {
    if (second < first.second - BRUSH_S || second > final.second + BRUSH_S) return value;
    const length = final.second - first.second;
    const along = length === 0 ? 1 : clamp((second - first.second) / length, 0, 1);
    return first.part + along * (final.part - first.part);
  });
  return { ...traffic, values };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
