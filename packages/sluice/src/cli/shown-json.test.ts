import { expect, test } from "vitest";
import { parseShown } from "./shown-json.ts";

test("a name with escape sequences reaches the terminal without them", () => {
  const names = ["\u001B]0;owned\u0007", "\u009B2J", "\u007F", "a\tb"];
  expect(parseShown(JSON.stringify({ names }))).toEqual({
    names: ["\u{FFFD}]0;owned\u{FFFD}", "\u{FFFD}2J", "\u{FFFD}", "a\u{FFFD}b"],
  });
});

test("a name that turns the rest of its line around reaches the terminal without that", () => {
  expect(parseShown('["a\\u202Eb\\u2066", "x\\u2028y", "\\u200Fz"]')).toEqual([
    "a\u{FFFD}b\u{FFFD}",
    "x\u{FFFD}y",
    "\u{FFFD}z",
  ]);
});

test("letters of all scripts and ends of lines are kept", () => {
  const kept = { text: "Zürich, 東京, שלום, می‌خواهم\nnext", count: 3, list: [true, null] };
  expect(parseShown(JSON.stringify(kept))).toEqual(kept);
});
