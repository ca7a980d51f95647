import type { JSX } from "preact";
import type { Token } from "./palette.ts";
import { still } from "../parts/still.ts";

/** The sample of a line in a legend: its colour and its dashes. */
export const Swatch = still(function Swatch({
  color,
  dash,
  isFilled = false,
}: {
  readonly color: Token;
  readonly dash?: string;
  readonly isFilled?: boolean;
}): JSX.Element {
  return (
    <svg width="16" height="8" aria-hidden="true">
      <line
        x1="0"
        y1="4"
        x2="16"
        y2="4"
        stroke={`var(--${color})`}
        stroke-width="2"
        stroke-dasharray={dash}
      />
      {isFilled && <rect y="4" width="16" height="4" fill={`var(--${color})`} opacity=".35" />}
    </svg>
  );
});
