/** A box of the picture, in CSS pixels from its upper left corner. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const WIDTH_MAX = 30;
/** Pixels of width for a rate of 1/s; width grows with the square root, so that 10/s and 5,000/s are both seen. */
const WIDTH_OF_ONE = 0.36;
const WIDTH_LEAST = 1.6;

export function centerY({ top, bottom }: Box): number {
  return (top + bottom) / 2;
}

export function centerX({ left, right }: Box): number {
  return (left + right) / 2;
}

/** How a rate becomes a width: `k × √rate`, with `k` so small that the largest rate has at most 30 px. */
export function widthScale(maxRate: number): (rate: number) => number {
  const factor = Math.min(WIDTH_OF_ONE, WIDTH_MAX / Math.sqrt(Math.max(1, maxRate)));
  return (rate) => (rate > 0 ? Math.max(WIDTH_LEAST, factor * Math.sqrt(rate)) : 0);
}

/** Stacks widths around a center with a gap between them: the center of each, and the height of all. */
export function stack(
  widths: readonly number[],
  center: number,
  gap = 1.5,
): { readonly centers: readonly number[]; readonly height: number } {
  const used = widths.filter((width) => width > 0);
  const height = used.reduce((sum, width) => sum + width, 0) + Math.max(0, used.length - 1) * gap;
  let top = center - height / 2;
  const centers = widths.map((width) => {
    const middle = top + width / 2;
    if (width > 0) top += width + gap;
    return middle;
  });
  return { centers, height };
}

/** A point of the ribbon's middle line: a Bézier curve that starts and ends level. `part` runs from 0 to 1. */
export function along(from: Point, to: Point, part: number): Point {
  const middle = (from.x + to.x) / 2;
  const rest = 1 - part;
  const [a, b, c, d] = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
  return {
    x: a * from.x + b * middle + c * middle + d * to.x,
    y: a * from.y + b * from.y + c * to.y + d * to.y,
  };
}
