import { niceMax } from "../../chart/scale.ts";

/** The range of the slider and of the drag line. */
export interface LimitScale {
  readonly least: number;
  readonly most: number;
  /** Of one press of an arrow; PageUp takes ten. */
  readonly step: number;
}

/** Steps that the whole range should have, at least: with fewer a step would skip limits that matter. */
const STEPS_LEAST = 60;
const STEPS = [1, 5, 10, 50, 100, 500];

/** From one step up to a round number beyond what is asked for, and beyond the limit. */
export function limitScale(values: readonly number[]): LimitScale {
  const most = niceMax(Math.max(10, ...values) * 1.08);
  const step = stepOf(most);
  return { least: step, most, step };
}

export function clampTo({ least, most }: LimitScale, value: number): number {
  return Math.min(most, Math.max(least, value));
}

/** The nearest whole number of steps within the scale. */
export function snapTo(scale: LimitScale, value: number): number {
  return clampTo(scale, Math.round(value / scale.step) * scale.step);
}

/** Where a value stands on the slider, 0 to 1. */
export function partOf({ least, most }: LimitScale, value: number): number {
  return most <= least ? 0 : Math.min(1, Math.max(0, (value - least) / (most - least)));
}

/** The value after a key, or undefined for a key that does not move it. */
export function afterKey(scale: LimitScale, value: number, key: string): number | undefined {
  const { step, least, most } = scale;
  switch (key) {
    case "ArrowUp":
    case "ArrowRight":
      return clampTo(scale, value + step);
    case "ArrowDown":
    case "ArrowLeft":
      return clampTo(scale, value - step);
    case "PageUp":
      return clampTo(scale, value + 10 * step);
    case "PageDown":
      return clampTo(scale, value - 10 * step);
    case "Home":
      return least;
    case "End":
      return most;
    default:
      return undefined;
  }
}

function stepOf(most: number): number {
  const wanted = most / STEPS_LEAST;
  const power = 1_000 ** Math.max(0, Math.floor(Math.log10(wanted) / 3));
  return Math.max(1, (STEPS.findLast((one) => one * power <= wanted) ?? 1) * power);
}
