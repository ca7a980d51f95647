import * as v from "valibot";
import { field, withoutLostKeys } from "../file/fields.ts";
import { formatPath, parsePath } from "../file/path.ts";
import { isSameValue } from "./same-value.ts";

/** A path into the result, and the value or inclusive range that must stand there. */
export type Expectations = Readonly<Record<string, unknown>>;

export interface Miss {
  readonly path: string;
  readonly expected: unknown;
  /** `undefined` if nothing stands there. */
  readonly found: unknown;
  /** If nothing stands there: how far the path leads, and what can be named from there. */
  readonly known?: Known;
}

export interface Known {
  /** The part of the path that exists; empty for the result itself. */
  readonly path: string;
  /** Keys of a map as a path writes them, or the indexes of a list. */
  readonly names: readonly string[];
}

/** Names listed in a miss. More would not fit a line. */
const NAMES_MAX = 12;

/**
 * Keys of results that hold lists: there, two numbers are not a range and may come in any order.
 */
const LIST_KEYS: readonly unknown[] = ["granted", "settledAfterS"];

export function expectations(): v.GenericSchema<unknown, Expectations> {
  const path = field<string>(
    (value) => typeof value === "string" && parsePath(value) !== undefined,
    'a path such as rows[4].ceiling, or rows[4].members["web.1"].share for a name with a dot',
  );
  return v.pipe(
    field<Record<string, unknown>>(isMap, "a map of paths and values"),
    withoutLostKeys(),
    v.record(path, v.unknown()),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const input = dataset.value;
      for (const [key, value] of Object.entries(input)) {
        if (!isReversed(key, value)) continue;
        const [low, high] = value as [number, number];
        addIssue({
          message: `is [${low}, ${high}], a range whose low end is above its high end; write [${high}, ${low}]`,
          path: [{ type: "object", origin: "value", input, key, value }],
        });
      }
    }),
  );
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isReversed(path: string, expected: unknown): boolean {
  return (
    isPair(expected) && expected[0] > expected[1] && !LIST_KEYS.includes(parsePath(path)?.at(-1))
  );
}

function isPair(value: unknown): value is [number, number] {
  return (
    Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "number")
  );
}

/** Everything expected that `result` misses. */
export function missedOf(expected: Expectations, result: unknown): Miss[] {
  const misses: Miss[] = [];
  for (const [path, wanted] of Object.entries(expected)) {
    const { found, known } = lookUp(result, path);
    if (!meets(found, wanted))
      misses.push({ path, expected: wanted, found, ...(known && { known }) });
  }
  return misses;
}

/** Two numbers are a range, unless a list is what stands there. */
function meets(found: unknown, expected: unknown): boolean {
  if (typeof found === "number" && isPair(expected))
    return expected[0] <= found && found <= expected[1];
  return isSameValue(found, expected);
}

function lookUp(result: unknown, path: string): { found: unknown; known?: Known } {
  const segments = parsePath(path) ?? [];
  let value: unknown = result;
  for (const [depth, segment] of segments.entries()) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) {
      const names = namesIn(value);
      return { found: undefined, known: { path: formatPath(segments.slice(0, depth)), names } };
    }
    value = (value as Record<string | number, unknown>)[segment];
  }
  return { found: value };
}

function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : [`[0] to [${value.length - 1}]`];
  if (typeof value !== "object" || value === null) return [];
  const names = Object.keys(value).map((key) => formatPath([key]));
  return names.length <= NAMES_MAX ? names : [...names.slice(0, NAMES_MAX), "…"];
}
