import { expect, test } from "vitest";
import { wrapped } from "./wrapped.ts";

test("no line is wider than asked for, whatever names clients choose", () => {
  const name = "n".repeat(4_000);
  const lines = wrapped(`${name} and 8 others wait`, 80);
  expect(Math.max(...lines.map((line) => line.length))).toBe(80);
  expect(lines.join("")).toContain(name);
  expect(lines.at(-1)).toBe("and 8 others wait");
});

test("a terminal that is narrower than the label beside the text is not an error", () => {
  for (const width of [1, 0, -17])
    expect(wrapped("orders waits", width)).toEqual(["orders", "waits"]);
});

test("a command to copy stays in one line", () => {
  const command = "sluice limits set ".repeat(40).trim();
  expect(wrapped(command, Number.POSITIVE_INFINITY)).toEqual([command]);
});

test("two spaces between sentences indent no line", () => {
  expect(wrapped("one two   three", 9)).toEqual(["one two  ", "three"]);
  expect(wrapped("one two   three", 7)).toEqual(["one two", "three"]);
});
