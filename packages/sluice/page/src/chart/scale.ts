const NICE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The smallest round number that is not below `value`. */
export function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return (NICE.find((one) => one * power >= value * 0.999_999) ?? 10) * power;
}

/** Two or three round marks up to `max`, without 0. */
export function marksUpTo(max: number): readonly number[] {
  const steps = [1, 2, 2.5, 5, 10];
  const power = 10 ** Math.floor(Math.log10(Math.max(max, 1e-9) / 2));
  const step = (steps.find((one) => max / (one * power) <= 3.5) ?? 10) * power;
  const count = Math.floor(max / step + 1e-6);
  return Array.from({ length: count }, (_, index) => (index + 1) * step);
}

/** Where the marks of a time axis stand, as ages in ms, oldest first; the last is 0, now. */
export function timeMarks(windowMs: number, widthPx: number): readonly number[] {
  const stepMs =
    windowMs > 400_000
      ? 300_000
      : widthPx > 520
        ? 60_000
        : widthPx > 150 && windowMs >= 300_000
          ? 120_000
          : windowMs / 2;
  const count = Math.floor(windowMs / stepMs);
  return Array.from({ length: count + 1 }, (_, index) => (count - index) * stepMs);
}

/** `now`, `−2 min`, `−30 s`. */
export function ageMark(ageMs: number): string {
  if (ageMs === 0) return "now";
  return ageMs % 60_000 === 0 ? `−${ageMs / 60_000} min` : `−${Math.round(ageMs / 1_000)} s`;
}
