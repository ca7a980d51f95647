import fc from "fast-check";
import { expect, test } from "vitest";
import type { Point, Series } from "../chart.ts";
import { linesMarkup } from "./lines.ts";
import { placeIn, plotsOf } from "../plot.ts";

interface Piece {
  readonly fromX: number;
  readonly toX: number;
  readonly y: number;
}

/** The horizontal pieces that each line draws, on a plot of 700 × 200 pixels. */
function horizontals(shape: Series["shape"], lines: readonly (readonly Point[])[]): Piece[][] {
  const series = lines.map((points, index) => ({ label: `line ${index}`, shape, points }));
  const chart = { title: "", x: { label: "t" }, y: { label: "v" }, series };
  const [plot] = plotsOf(chart, 700);
  if (plot === undefined) throw new Error("a chart has a panel");
  return linesMarkup(plot, placeIn(plot, 700, 200)).map(piecesOf);
}

function piecesOf(markup: string): Piece[] {
  const pieces: Piece[] = [];
  let [x, y] = [0, 0];
  const path = / d="([^"]*)"/.exec(markup)?.[1] ?? "";
  for (const [, command, numbers = ""] of path.matchAll(/([MHVL])([^MHVL]*)/g)) {
    const [first = NaN, second = NaN] = numbers.split(" ").map(Number);
    if (command === "H") pieces.push({ fromX: Math.min(x, first), toX: Math.max(x, first), y });
    if (command === "V") y = first;
    else x = first;
    if (command === "M" || command === "L") y = second;
  }
  return pieces;
}

const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { fromX, toX }) => sum + toX - fromX, 0);

const flat = (y: number): Point[] => [0, 1, 2, 3].map((x) => ({ x, y }));

test.each([2, 3, 8, 12])(
  "%d equal lines take turns, so that each is seen as much as any other",
  (count) => {
    for (const shape of ["line", "step"] as const) {
      const drawn = horizontals(
        shape,
        Array.from({ length: count }, () => flat(5)),
      );
      expect(drawn).toHaveLength(count);
      for (const pieces of drawn) {
        expect(lengthOf(pieces)).toBeGreaterThan(700 / count - 10);
        expect(lengthOf(pieces)).toBeLessThan(700 / count + 10);
      }
    }
  },
);

test("a line alone is drawn whole, and so is a line where it leaves the others", () => {
  expect(lengthOf(horizontals("step", [flat(5)])[0] ?? [])).toBe(700);
  const parting = [5, 5, 9, 9].map((y, x) => ({ x, y }));
  const [, apart = []] = horizontals("step", [flat(5), parting]);
  const upper = apart.filter(({ y }) => y === Math.min(...apart.map((piece) => piece.y)));
  expect(upper).toEqual([{ fromX: 350, toX: 700, y: expect.any(Number) as number }]);
});

test("no stretch of a line is left out: at every place one of the lines that run there is drawn", () => {
  const line = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 4, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (heights) => {
      const lines = heights.map((ys) => ys.map((y, x) => ({ x, y })));
      const drawn = horizontals("step", lines).flat();
      const longest = Math.max(...heights.map(({ length }) => length));
      const slot = 700 / longest;
      const levels = new Map(
        [0, 1, 2, 3].map((y) => [
          y,
          Math.round((200 - (200 * y) / Math.max(...heights.flat())) * 100) / 100,
        ]),
      );
      for (const ys of heights) {
        for (const [x, y] of ys.entries()) {
          const middle = (x + 0.5) * slot;
          const level = levels.get(y) ?? NaN;
          const isDrawn = drawn.some(
            (piece) =>
              Math.abs(piece.y - level) < 0.02 && piece.fromX <= middle && piece.toX >= middle,
          );
          expect(isDrawn, `x ${x}, y ${y}`).toBe(true);
        }
      }
    }),
    { numRuns: 200 },
  );
});
