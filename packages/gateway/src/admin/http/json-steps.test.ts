import fc from "fast-check";
import { expect, test } from "vitest";
import { atOnce } from "../../topic/stats-steps.ts";
import { jsonSteps, LazyList, LazyRecord } from "./json-steps.ts";

test("the text of lazy parts is that of JSON.stringify", () => {
  const leaf = fc.oneof(fc.jsonValue(), fc.constant(undefined));
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      fc.pre(value !== undefined);
      expect(atOnce(jsonSteps(lazily(value)))).toBe(JSON.stringify(value));
    }),
  );
});

/** The same value with every list and object lazy, but for each second level. */
function lazily(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return new LazyList(value.map((item: unknown) => lazily(item ?? null, depth + 1)));
  const entries = Object.entries(value).map(
    ([name, part]) => [name, lazily(part, depth + 1)] as const,
  );
  return depth % 2 === 0 ? new LazyRecord(entries) : Object.fromEntries(entries);
}

test("64 KiB are written in one step, and items are made when their turn comes", () => {
  let made = 0;
  function* items(): Generator<string> {
    for (; made < 1_000; made++) yield "x".repeat(1_000);
  }
  const steps = jsonSteps({ list: new LazyList(items()) });
  let former = 0;
  let count = 0;
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    expect(made - former).toBeLessThanOrEqual(66);
    former = made;
    count++;
  }
  expect(count).toBeGreaterThanOrEqual(14);
});
