import type { JSX } from "preact";
import { countText, rateText } from "../words/numbers.ts";
import { still } from "./still.ts";

/** The limit stands at this part of the track, so that what exceeds it can be seen. */
const LIMIT_AT = 1 / 1.12;

/** Use against a limit; the tick is the limit. */
export const Meter = still(function Meter({
  value,
  limit,
  label,
  hot = false,
}: {
  readonly value: number;
  readonly limit: number | undefined;
  readonly label: string;
  /** Whether something waits for the limit. */
  readonly hot?: boolean;
}): JSX.Element {
  const part = limit === undefined || limit <= 0 ? 0 : (value / limit) * LIMIT_AT;
  const text = limit === undefined ? rateText(value) : `${countText(value)} of ${rateText(limit)}`;
  return (
    <div
      class={hot ? "meter hot" : "meter"}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuenow={Math.round(value)}
      aria-valuemax={Math.round(Math.max(limit ?? value, value))}
      aria-valuetext={text}
    >
      <i style={{ width: percent(part) }} />
      {limit !== undefined && <u style={{ left: percent(LIMIT_AT) }} />}
    </div>
  );
});

function percent(part: number): string {
  return `${(Math.min(1, Math.max(0, part)) * 100).toFixed(1)}%`;
}
