const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The next round number above, for the top of an axis. */
export function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return (STEPS.find((step) => step * power >= value) ?? 10) * power;
}

/** Round distances between ticks of seconds. */
const TICK_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600];

/** Ticks of the time axis; about one in 110 pixels. */
export function timeTicks(from: number, until: number, width: number): readonly number[] {
  const wanted = Math.max(2, width / 110);
  const step =
    TICK_S.find((each) => (until - from) / each <= wanted) ?? niceTop((until - from) / wanted);
  const first = Math.ceil(from / step) * step;
  const count = Math.floor((until - first) / step) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => first + i * step);
}
