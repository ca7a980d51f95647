/** Curves of traffic, as parts of their peak, second by second. */
export type ShapeName = keyof typeof SHAPES;

const TAU = 2 * Math.PI;

/** `x` runs from 0 to 1 over the curve, `t` counts seconds. */
const SHAPES = {
  steady: () => 0.62,
  bursts: (x: number) => (x % 0.45 > 0.02 && x % 0.45 < 0.27 ? 0.98 + 0.02 * Math.sin(90 * x) : 0),
  climb: (x: number) => 0.1 + 0.9 * x,
  flappy: (_: number, t: number) => (t % 8 < 4 ? 0.9 : 0.12),
  spike: (x: number) => (x > 0.35 && x < 0.45 ? 1 : 0.3),
  day: (x: number) => 0.5 - 0.45 * Math.cos(TAU * x),
} as const;

export const SHAPE_NAMES: readonly ShapeName[] = Object.keys(SHAPES) as ShapeName[];

export function isShape(name: string): name is ShapeName {
  return Object.hasOwn(SHAPES, name);
}

/** A dip for what serves: all, half for a third of the time, all again. */
export function dip(seconds: number): number[] {
  return Array.from({ length: seconds }, (_, t) =>
    t >= seconds / 2 && t < (5 * seconds) / 6 ? 0.5 : 1,
  );
}

export function shapeValues(name: ShapeName, seconds: number): number[] {
  return Array.from({ length: seconds }, (_, t) => SHAPES[name](t / seconds, t));
}
