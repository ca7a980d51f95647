import type { JSX } from "preact";
import { samples } from "../../live/live-store.ts";
import { liveTraffic } from "../model/live-traffic.ts";
import { SHAPE_NAMES } from "../model/shapes.ts";
import { valuesOf } from "../model/state.ts";
import { setTraffic, state } from "../lab-store.ts";
import { Scrub } from "./scrub.tsx";
import { Sketch } from "./sketch.tsx";

const SECONDS = 60;
const ICON_W = 40;
const ICON_H = 19;

/** What both settings are tried on: a shape, what the running flow was asked for, or a drawing. */
export function TrafficSection(): JSX.Element {
  const { kind, traffic } = state.value;
  const seconds = traffic.values.length || SECONDS;
  const peak = traffic.peak || (kind.presets[0]?.traffic?.peak ?? 100);
  const live = kind.takesLive ? liveTraffic(samples.value) : undefined;
  return (
    <div class="section">
      <h3>
        {kind.curve.name}
        <span class="t3">{noteOf(traffic.shape, live?.of)}</span>
        {traffic.shape !== "file" && (
          <span class="peak">
            peak
            <Scrub
              label={`peak of ${kind.curve.name.toLowerCase()}`}
              value={traffic.peak}
              unit={kind.curve.unit}
              least={kind.curve.least}
              most={kind.curve.most}
              step={kind.curve.unit === "" ? 1 : 10}
              onChange={(value) => setTraffic({ ...traffic, peak: value })}
            />
          </span>
        )}
      </h3>
      <div class="shapes" role="group" aria-label={kind.curve.name}>
        {["dip", ...SHAPE_NAMES]
          .filter((shape) => shape !== (kind.takesLive ? "dip" : "flappy"))
          .map((shape) => (
            <ShapeButton
              key={shape}
              name={shape}
              values={valuesOf(shape, SECONDS)}
              isChosen={traffic.shape === shape}
              onChoose={() => setTraffic({ shape, peak, values: valuesOf(shape, seconds) })}
            />
          ))}
        <ShapeButton
          name="last 5 min"
          values={live?.values}
          isChosen={traffic.shape === "live"}
          onChoose={
            live === undefined
              ? undefined
              : () => setTraffic({ shape: "live", peak: live.peak, values: live.values })
          }
          why={kind.takesLive ? "no running flow is known to this page" : "only of traffic"}
        />
        <ShapeButton
          name="drawn"
          values={traffic.shape === "drawn" ? traffic.values : undefined}
          isChosen={traffic.shape === "drawn"}
          onChoose={() =>
            setTraffic({
              shape: "drawn",
              peak,
              values: traffic.values.length > 0 ? traffic.values : valuesOf("steady", seconds),
            })
          }
        />
      </div>
      {traffic.shape === "file" ? (
        <p class="t3 note">The scenario says what happens. Choose a shape to replace it.</p>
      ) : (
        <Sketch />
      )}
    </div>
  );
}

function noteOf(shape: string, of: string | undefined): string {
  if (shape === "live") return `what ${of ?? "the flow"} was asked for`;
  return shape === "file" ? "as in the scenario" : "or draw your own in the box";
}

function ShapeButton(props: {
  readonly name: string;
  readonly values: readonly number[] | undefined;
  readonly isChosen: boolean;
  readonly onChoose: (() => void) | undefined;
  readonly why?: string;
}): JSX.Element {
  const { name, values, isChosen, onChoose, why } = props;
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      disabled={onChoose === undefined}
      title={onChoose === undefined ? why : undefined}
      onClick={onChoose}
    >
      <svg width={ICON_W} height={ICON_H} aria-hidden="true">
        <path
          d={values === undefined ? "M2 14C8 2 10 18 16 10s8-8 12-2 8 2 10-4" : iconPath(values)}
          fill="none"
          stroke="currentColor"
          stroke-width="1.4"
          stroke-linejoin="round"
        />
      </svg>
      {name}
    </button>
  );
}

function iconPath(values: readonly number[]): string {
  const points = 40;
  return Array.from({ length: points + 1 }, (_, i) => {
    const value = values[Math.floor((i / points) * (values.length - 1))] ?? 0;
    return `${i === 0 ? "M" : "L"}${((i / points) * (ICON_W - 4) + 2).toFixed(1)} ${(ICON_H - 2 - value * (ICON_H - 4)).toFixed(1)}`;
  }).join("");
}
