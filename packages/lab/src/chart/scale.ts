export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Largest value drawn. Differences of larger ones could overflow, as could divisions by values
 * below 1 ÷ this.
 */
const MAGNITUDE_MAX = 1e300;

/**
 * Smallest range, as a part of its values. Ticks of narrower ones would need more digits than a
 * double has.
 */
const SPAN_MIN = 1e-9;

/** Maps a value to pixels. */
export type Scale = (value: number) => number;

/**
 * Bound of a coordinate: far outside any canvas, and exact in the single precision of renderers.
 */
const PIXELS_MAX = 100_000;

export function linearScale(values: Range, pixels: Range): Scale {
  const span = values.to - values.from;
  return (value) => {
    const pixel = pixels.from + ((value - values.from) / span) * (pixels.to - pixels.from);
    return Math.max(-PIXELS_MAX, Math.min(PIXELS_MAX, pixel));
  };
}

/** The nearest range that can be divided into ticks: a single value gets room on both sides. */
export function spreadRange(range: Range): Range {
  const from = clampMagnitude(range.from);
  const to = clampMagnitude(range.to);
  const size = Math.max(Math.abs(from), Math.abs(to));
  if (size === 0) return { from: 0, to: 1 };
  if (to - from > size * SPAN_MIN) return { from, to };
  return { from: from - size / 2, to: to + size / 2 };
}

function clampMagnitude(value: number): number {
  if (Math.abs(value) < 1 / MAGNITUDE_MAX) return 0;
  return Math.max(-MAGNITUDE_MAX, Math.min(MAGNITUDE_MAX, value));
}

/**
 * Evenly spaced round numbers that cover `range`, at least `stepMin` apart. At least three if
 * `countMax` is five or more and `stepMin` allows it. `range` must come from `spreadRange`.
 */
export function ticksOver(range: Range, countMax: number, stepMin = 0): number[] {
  let exponent = exponentOf((range.to - range.from) / countMax);
  for (;;) {
    for (const digit of [1, 2, 5]) {
      const step = Number(`${digit}e${exponent}`);
      const first = Math.floor(range.from / step);
      const count = Math.ceil(range.to / step) - first + 1;
      // Rounding to 15 digits turns 0.30000000000000004 into 0.3.
      const tickAt = (_: unknown, index: number): number =>
        Number(((first + index) * step).toPrecision(15));
      if (step >= stepMin && count <= countMax) return Array.from({ length: count }, tickAt);
    }
    exponent += 1;
  }
}

/** The power of ten of the first digit. Exact, unlike ⌊log10⌋. */
export function exponentOf(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}
