import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { field } from "./fields.ts";

/** A path into the result, and the value or inclusive range that must stand there. */
export type Expectations = Readonly<Record<string, unknown>>;

export interface Miss {
  readonly path: string;
  readonly expected: unknown;
  /** `undefined` if nothing stands there. */
  readonly found: unknown;
}

const PATH = /^\w+(?:\.\w+|\[\d+\])*$/;

export function expectations(): v.GenericSchema<unknown, Expectations> {
  const path = field<string>(
    (value) => typeof value === "string" && PATH.test(value),
    "a path such as rows[4].ceiling",
  );
  return v.pipe(
    field<Record<string, unknown>>(isMap, "a map of paths and values"),
    v.record(path, v.unknown()),
  );
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Everything expected that `result` misses. */
export function missedOf(expected: Expectations, result: unknown): Miss[] {
  const misses: Miss[] = [];
  for (const [path, wanted] of Object.entries(expected)) {
    const found = valueAt(result, path);
    if (!meets(found, wanted)) misses.push({ path, expected: wanted, found });
  }
  return misses;
}

function valueAt(result: unknown, path: string): unknown {
  let value: unknown = result;
  for (const [segment] of path.matchAll(/\w+/g)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) {
      return undefined;
    }
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/** Two numbers are a range, unless a list is what stands there. */
function meets(found: unknown, expected: unknown): boolean {
  if (typeof found === "number" && Array.isArray(expected) && expected.length === 2) {
    const [low, high] = expected as unknown[];
    return typeof low === "number" && typeof high === "number" && low <= found && found <= high;
  }
  return isDeepStrictEqual(found, expected);
}
