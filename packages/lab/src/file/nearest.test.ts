import { expect, test } from "vitest";
import { nearestOf } from "./nearest.ts";

const KNOWN = ["listen", "upstream", "data", "auth", "tls"];

test.each([
  ["lisen", "listen"],
  ["Listen", "listen"],
  ["upstraem", "upstream"],
  ["dta", "data"],
  ["tsl", undefined],
  ["limits", undefined],
  ["x".repeat(100_000), undefined],
])("%.10s may stand for %s", (word, nearest) => {
  expect(nearestOf(word, KNOWN)).toBe(nearest);
});
