import type { JSX } from "preact";
import { rateText } from "../../words/numbers.ts";
import { partOf } from "../model/limit-scale.ts";
import type { LimitScale } from "../model/limit-scale.ts";

/** Marks nearer than this part of the line cover each other. */
const MARKS_APART = 0.2;

/** The limit on a line between the one that holds now and the one at which nobody waits. */
export function LimitSlider({
  scale,
  value,
  now,
  enough,
  onValue,
}: {
  readonly scale: LimitScale;
  readonly value: number | undefined;
  readonly now: number | undefined;
  /** The limit at which nobody waits; undefined while nobody does. */
  readonly enough: number | undefined;
  readonly onValue: (value: number) => void;
}): JSX.Element {
  // Two marks that would cover each other: the one to go to is more useful.
  const isHidden =
    now !== undefined &&
    enough !== undefined &&
    Math.abs(partOf(scale, now) - partOf(scale, enough)) < MARKS_APART;
  return (
    <>
      <input
        type="range"
        aria-label="Messages a second"
        min={scale.least}
        max={scale.most}
        step={scale.step}
        value={value ?? scale.most}
        aria-valuetext={value === undefined ? "no limit" : rateText(value)}
        onInput={(event) => onValue(Number(event.currentTarget.value))}
      />
      <div class="marks" aria-hidden="true">
        {now !== undefined && !isHidden && <Mark at={partOf(scale, now)} text="now" />}
        {enough !== undefined && <Mark at={partOf(scale, enough)} text="nobody waits" />}
      </div>
    </>
  );
}

/** Words near the ends stay within the line. */
function Mark({ at, text }: { readonly at: number; readonly text: string }): JSX.Element {
  const side = at > 0.84 ? "end" : at < 0.1 ? "start" : "";
  const left = side === "end" ? 1 : side === "start" ? 0 : at;
  return (
    <span class={side} style={{ left: `${(left * 100).toFixed(1)}%` }}>
      {text}
    </span>
  );
}
