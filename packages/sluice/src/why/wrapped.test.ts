import { expect, test } from "vitest";
import { wrapped } from "./wrapped.ts";

test("no line is wider than asked for, whatever names clients choose", () => {
  const name = "n".repeat(4_000);
  const lines = wrapped(`${name} and 8 others wait`, 80);
  expect(Math.max(...lines.map((line) => line.length))).toBe(80);
  expect(lines.join("")).toContain(name);
  expect(lines.at(-1)).toBe("and 8 others wait");
});

test("a command to copy stays in one line", () => {
  const command = "sluice limits set ".repeat(40).trim();
  expect(wrapped(command, Number.POSITIVE_INFINITY)).toEqual([command]);
});

test("two spaces between sentences indent no line", () => {
  expect(wrapped("one two   three", 9)).toEqual(["one two  ", "three"]);
  expect(wrapped("one two   three", 7)).toEqual(["one two", "three"]);
});
