import fc from "fast-check";
import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { TopicPattern } from "./topic-pattern.ts";

const part = fc.string({
  unit: fc.constantFrom("a", "b", "*", ".", "+"),
  minLength: 1,
  maxLength: 6,
});
const name = fc.string({ unit: fc.constantFrom("a", "b", ".", "+"), minLength: 1, maxLength: 8 });

const literal = (text: string): string => text.replaceAll(/[.+]/g, String.raw`\$&`);

test("a pattern matches what the regular expression of the same meaning does", () => {
  fc.assert(
    fc.property(fc.tuple(part, part, part), fc.tuple(name, name, name), (pattern, names) => {
      const model = new RegExp(`^${literal(pattern.join("/")).replaceAll(/\*+/g, "[^/]*")}$`);
      const topic = names.join("/");
      expect(new TopicPattern("persistent", pattern).matches(`persistent://${topic}`)).toBe(
        model.test(topic),
      );
    }),
    { numRuns: 2_000 },
  );
});

test("a partition has the rights of its topic", () => {
  const pattern = new TopicPattern(undefined, ["a", "b", "c*d"]);
  expect(pattern.matches("persistent://a/b/c-d-partition-7")).toBe(true);
  expect(pattern.matches("non-persistent://a/b/c-d")).toBe(true);
  expect(pattern.matches("persistent://a/b/c-d-partition-x")).toBe(false);
});

test("many stars and a name that nearly matches take no time", () => {
  const pattern = new TopicPattern(undefined, ["a", "b", "*-*-*-*-*x"]);
  const tookMs = Array.from({ length: 5 }, () => {
    const startedAtMs = systemTimer.now();
    expect(pattern.matches(`persistent://a/b/${"-".repeat(4_000)}`)).toBe(false);
    return systemTimer.now() - startedAtMs;
  });
  // A regular expression had not answered after a minute. A busy machine may delay some calls, not all.
  expect(Math.min(...tookMs)).toBeLessThan(100);
});
