import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLineOf } from "./json-lines.ts";

const SOUGHT = "sought";

/** A JSON value and the path of one leaf in it, whose text is found nowhere else. */
const hidden = fc.letrec<{ tree: { value: unknown; path: readonly (string | number)[] } }>(
  (tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.constant({ value: SOUGHT, path: [] }),
      fc
        .tuple(tie("tree"), fc.string(), fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }))
        .map(([{ value, path }, key, others]) => ({
          value: { ...others, [`k${key}`]: value },
          path: [`k${key}`, ...path],
        })),
      fc
        .tuple(tie("tree"), fc.array(fc.jsonValue(), { maxLength: 3 }))
        .map(([{ value, path }, before]) => ({
          value: [...before, value, 0],
          path: [before.length, ...path],
        })),
    ),
  }),
).tree;

test("the line of every value is found, whatever lies beside it", () => {
  fc.assert(
    fc.property(hidden, fc.constantFrom(0, 2), ({ value, path }, indent) => {
      const text = JSON.stringify(value, null, indent);
      const before = text.slice(0, text.indexOf(`"${SOUGHT}"`));
      expect(jsonLineOf(text, path)).toBe(before.split("\n").length);
    }),
    { numRuns: 500 },
  );
});

test("a key that occurs twice has the line of the last one", () => {
  expect(jsonLineOf('{\n"a": { "b": 1 },\n"a": {\n"b": 2 }}', ["a", "b"])).toBe(4);
});

test("a missing key has the line of its map", () => {
  const text = '{\n"a": [\n1,\n{ "b": 2 }]}';
  expect(["c", "a"].map((key) => jsonLineOf(text, ["a", 1, key]))).toEqual([4, 4]);
  expect(jsonLineOf(text, ["a", 7, "b"])).toBe(2);
  expect(jsonLineOf(text, ["x"])).toBe(1);
});
