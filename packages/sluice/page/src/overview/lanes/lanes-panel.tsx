import { computed, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fitCanvas } from "../../chart/fit-canvas.ts";
import { palette } from "../../chart/palette.ts";
import { useSeen } from "../../chart/use-seen.ts";
import { WINDOW_MS } from "../../live/history.ts";
import { cursorAtMs, latest, pin, pinnedAtMs, samples, seconds } from "../../live/live-store.ts";
import { Chip } from "../../parts/chip.tsx";
import { inPathOrder } from "../../words/reasons.ts";
import { drawLanes, LANE_HEIGHT, laneLeft } from "./draw-lanes.ts";
import { lanesOf } from "./lanes.ts";

const AXIS_HEIGHT = 20;

const lanes = computed(() => {
  void seconds[1].value;
  return lanesOf(samples.peek());
});
const isWithoutSample = computed(() => latest.value === undefined);
const reasons = computed(() =>
  inPathOrder(lanes.value.lanes.flatMap(({ bands }) => bands.map(({ reason }) => reason))),
);

/** Who waited in the last five minutes, and why. */
export function LanesPanel(): JSX.Element {
  const isLoading = isWithoutSample.value;
  const { leftOut, lanes: list } = lanes.value;
  return (
    <section class="panel lanes" aria-labelledby="lanes-title">
      <header>
        <h2 id="lanes-title">Who waited, and why</h2>
        <span class="sp" />
        <span class="sub">last 5 min</span>
      </header>
      <div class="timeline">
        {isLoading ? <div class="skeleton tall" /> : <Timeline />}
        <div class="lane-key">
          {reasons.value.map((reason) => (
            <Chip key={reason} reason={reason} small />
          ))}
          {leftOut > 0 && <span class="t3">{leftOut} others waited less</span>}
          {!isLoading && list.length === 0 && (
            <span class="t3">Nobody has waited in the last 5 minutes.</span>
          )}
        </div>
      </div>
    </section>
  );
}

function Timeline(): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useRef(0);
  const laneCount = useRef(0);
  const draw = (): void => {
    const element = canvas.current;
    if (element === null) return;
    const height = Math.max(1, lanes.peek().lanes.length) * LANE_HEIGHT + AXIS_HEIGHT;
    const fitted = fitCanvas(element, width.current, height);
    if (fitted === undefined) return;
    drawLanes({
      ...fitted,
      palette: palette.peek(),
      lanes: lanes.peek().lanes,
      nowMs: latest.peek()?.atMs ?? 0,
      cursorAtMs: cursorAtMs.peek(),
    });
  };
  const isSeen = useSeen(canvas, draw);
  useSignalEffect(() => {
    void [palette.value, cursorAtMs.value];
    const { length } = lanes.value.lanes;
    // Off the screen too: else the panel would grow when it scrolls into view.
    if (isSeen.current || length !== laneCount.current) draw();
    laneCount.current = length;
  });
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(() => {
      width.current = element.clientWidth;
      draw();
    });
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const at = (event: MouseEvent): number | undefined => {
    const element = canvas.current;
    const nowMs = latest.peek()?.atMs;
    if (element === null || nowMs === undefined) return undefined;
    const left = laneLeft(element.clientWidth);
    const part = (event.offsetX - left) / (element.clientWidth - left - 2);
    return part < 0 ? undefined : nowMs - WINDOW_MS + part * WINDOW_MS;
  };
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label="Timeline of who waited for which reason in the last five minutes; the list Waiting now says the same in words"
      onPointerMove={(event) => {
        if (pinnedAtMs.peek() === undefined) cursorAtMs.value = at(event);
      }}
      onPointerLeave={() => {
        if (pinnedAtMs.peek() === undefined) cursorAtMs.value = undefined;
      }}
      onClick={(event) => pin(pinnedAtMs.peek() === undefined ? at(event) : undefined)}
    />
  );
}
