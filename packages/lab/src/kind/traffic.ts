import * as v from "valibot";
import { field, map, oneOf, real, whole } from "../file/fields.ts";

/** Requests or busy answers in second `time`. */
export type Traffic = (time: number) => number;

const start = real(0);
const step = v.optional(real(0), 100);

const SHAPES = {
  steady: v.pipe(
    map({ shape: oneOf("steady"), start }),
    v.transform(
      (given): Traffic =>
        () =>
          given.start,
    ),
  ),
  linear_grow: v.pipe(
    map({ shape: oneOf("linear_grow"), start, step }),
    v.transform(
      (given): Traffic =>
        (time) =>
          given.start + given.step * time,
    ),
  ),
  linear_decrease: v.pipe(
    map({ shape: oneOf("linear_decrease"), start, step }),
    v.transform(
      (given): Traffic =>
        (time) =>
          Math.max(0, given.start - given.step * time),
    ),
  ),
  exponential_grow: v.pipe(
    map({ shape: oneOf("exponential_grow"), start }),
    v.transform(
      (given): Traffic =>
        (time) =>
          given.start * 2 ** time,
    ),
  ),
  exponential_decrease: v.pipe(
    map({ shape: oneOf("exponential_decrease"), start }),
    v.transform(
      (given): Traffic =>
        (time) =>
          given.start / 2 ** time,
    ),
  ),
};

const flappy = v.pipe(
  map({ shape: oneOf("flappy"), start, every: whole(1) }),
  v.transform(
    (given): Traffic =>
      (time) =>
        time % given.every === 0 ? given.start : 0,
  ),
);

export function trafficShape(): v.GenericSchema<unknown, Traffic> {
  return shapeOf(SHAPES);
}

/** The shapes of traffic, and `flappy`. */
export function busyShape(): v.GenericSchema<unknown, Traffic> {
  return shapeOf({ ...SHAPES, flappy });
}

type ShapeSchema = v.GenericSchema<unknown, Traffic>;

function shapeOf(shapes: Readonly<Record<string, ShapeSchema>>): ShapeSchema {
  const names = Object.keys(shapes);
  const expected = `a map with the shape ${names.join(" or ")}`;
  const nothing = field<Traffic>(() => false, expected);
  const unknownShape = v.pipe(
    v.looseObject({ shape: oneOf(...names) }),
    v.transform((): Traffic => () => 0),
  );
  return v.lazy((value) => {
    if (typeof value !== "object" || value === null || !("shape" in value)) return nothing;
    const known = Object.entries(shapes).find(([name]) => name === value.shape);
    return known?.[1] ?? unknownShape;
  });
}
