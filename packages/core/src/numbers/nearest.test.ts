import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const KNOWN = ["max", "min", "rampUpDuration", "resumeTtl", "ttl"];

test.each([
  ["rampupDuration", "rampUpDuration"],
  ["ramp_up_duration", "rampUpDuration"],
  ["rampUpDuraton", "rampUpDuration"],
  ["rampDuration", "rampUpDuration"],
  ["Max", "max"],
  ["maxx", "max"],
  ["tl", "ttl"],
  ["resumedTtl", "resumeTtl"],
  ["mxa", "max"],
  ["resuemTtl", "resumeTtl"],
  ["burst", undefined],
  ["", undefined],
  ["x".repeat(100_000), undefined],
])("what was mistyped as %.20s was meant as %s", (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});
