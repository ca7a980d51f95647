import { describe, expect, it } from "vitest";
import { bandsOf, edgeOf } from "./bands.ts";
import { bandPath } from "./path.ts";

const part = (...ys: (number | undefined)[]) =>
  ({ label: "p", shape: "step", points: ys.map((y, x) => ({ x, y })) }) as const;

describe("bands", () => {
  it("lie on each other, and end at the sum of all parts", () => {
    const [first, second] = bandsOf([part(1, 2), part(10, 20)]);
    expect(first?.lower.map(({ y }) => y)).toEqual([0, 0]);
    expect(second?.lower).toEqual(first?.upper);
    expect(second?.upper.map(({ y }) => y)).toEqual([11, 22]);
  });

  it("have no height where a part has a gap", () => {
    const [, second] = bandsOf([part(1, 2), part(undefined, Number.NaN)]);
    expect(second?.upper).toEqual(second?.lower);
    expect(second && edgeOf(second).map(({ y }) => y)).toEqual([undefined, undefined]);
  });

  it("are closed, with steps that last until the end of the axis", () => {
    const [band] = bandsOf([part(1, 2)]);
    const same = { x: (x: number) => x, y: (y: number) => y };
    expect(band && bandPath(band, same, 2)).toBe("M0 1H1V2H2V0H1V0H0Z");
  });
});
