import { expect, test } from "vitest";
import { byteUnit, draftedLimit, isSameLimit } from "./draft.ts";

const LIMIT = { messages: 1_000, bytes: 10_000_000 };

test("a field that was not touched keeps its value", () => {
  expect(draftedLimit(LIMIT, { key: "" })).toEqual(LIMIT);
  expect(draftedLimit(LIMIT, { key: "", messages: "1,500" })).toEqual({
    ...LIMIT,
    messages: 1_500,
  });
});

test("an empty field is no limit", () => {
  expect(draftedLimit(LIMIT, { key: "", messages: " " })).toEqual({ bytes: 10_000_000 });
  expect(draftedLimit(undefined, { key: "" })).toEqual({});
});

test("bytes are read in their unit, with decimals", () => {
  expect(draftedLimit(LIMIT, { key: "", bytes: "1.5" })).toEqual({ ...LIMIT, bytes: 1_500_000 });
  expect(byteUnit(64_000)).toEqual({ name: "kB", bytes: 1_000 });
  expect(byteUnit(undefined).name).toBe("MB");
});

test.each(["0", "-5", "1e3", "abc", "1.5"])("%s is no rate of messages", (messages) => {
  expect(draftedLimit(LIMIT, { key: "", messages })).toBeUndefined();
});

test("two limits are the same if both parts are", () => {
  expect(isSameLimit(LIMIT, { ...LIMIT })).toBe(true);
  expect(isSameLimit(undefined, {})).toBe(true);
  expect(isSameLimit(LIMIT, { messages: 1_000 })).toBe(false);
});
