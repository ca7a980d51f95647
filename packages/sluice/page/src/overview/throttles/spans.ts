import type { LiveSample } from "../../../../src/live/live-message.ts";
import type { Plot } from "../../chart/time-chart.tsx";

/** Fills the times in which something held, from top to bottom. */
export function fillSpans(
  { pen, samples, x, top, bottom }: Plot,
  fill: CanvasPattern | string,
  holds: (sample: LiveSample) => boolean,
): void {
  pen.fillStyle = fill;
  for (const [fromMs, toMs] of spansOf(samples, holds)) {
    const left = x(fromMs);
    pen.fillRect(left, top, Math.max(1.5, x(toMs) - left), bottom - top);
  }
}

/** From the first sample with which something held to the first with which it did not. */
function spansOf(
  samples: readonly LiveSample[],
  holds: (sample: LiveSample) => boolean,
): readonly (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = [];
  let fromMs: number | undefined;
  for (const sample of samples) {
    if (holds(sample)) fromMs ??= sample.atMs;
    else if (fromMs !== undefined) {
      spans.push([fromMs, sample.atMs]);
      fromMs = undefined;
    }
  }
  const last = samples.at(-1);
  if (fromMs !== undefined && last !== undefined) spans.push([fromMs, last.atMs]);
  return spans;
}
