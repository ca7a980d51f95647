import { expect, test } from "vitest";
import { undoOf } from "./undo-of.ts";

const path = "topic/public%2Fdefault%2Forders";

test("Undo of a publish limit brings back both units, also the one that the change left out", () => {
  const from = { messages: 1000, bytes: 5_000_000 };
  expect(undoOf({ path, body: { messages: 500 } }, from)).toEqual({ path, body: from });
});

test("Undo of a limit that was lifted sets it again, and does not remove it", () => {
  const from = { messages: 1000 };
  expect(undoOf({ path, body: { unlimited: true } }, from)).toEqual({ path, body: from });
});

test("Undo brings back that a topic was not limited on purpose", () => {
  const undo = undoOf({ path, body: { messages: 500 } }, {});
  expect(undo).toEqual({ path, body: { unlimited: true } });
});

test("Undo removes a limit that was not there", () => {
  expect(undoOf({ path, body: { messages: 500 } }, null)).toBe("unset");
  expect(undoOf({ path: "vertex/orders/in", body: { max: 5 } }, { rateLimit: null })).toBe("unset");
});

test("Undo of a vertex sets only the keys that were changed", () => {
  const from = { rateLimit: { max: 100, min: 10, rampUpDuration: "60s" }, concurrency: 4 };
  const body = { max: 50, concurrency: 2 };
  expect(undoOf({ path, body }, from)).toEqual({ path, body: { max: 100, concurrency: 4 } });
});
