import { expect, test } from "vitest";
import { classifyGrpc } from "./grpc.ts";

const SERVED = { outcome: "ok", retriable: "never" };
const TURNED_DOWN = { outcome: "ignored", retriable: "never" };
const BROKEN = { outcome: "failed", retriable: "if-idempotent" };
const EXHAUSTED = { outcome: "busy", retriable: "if-idempotent", scope: "over-quota" };
const UNAVAILABLE = { outcome: "busy", retriable: "if-idempotent", scope: "busy-here" };

test.each([
  [0, "OK", SERVED],
  [1, "CANCELLED", TURNED_DOWN],
  [2, "UNKNOWN", BROKEN],
  [3, "INVALID_ARGUMENT", TURNED_DOWN],
  [4, "DEADLINE_EXCEEDED", BROKEN],
  [5, "NOT_FOUND", TURNED_DOWN],
  [6, "ALREADY_EXISTS", TURNED_DOWN],
  [7, "PERMISSION_DENIED", TURNED_DOWN],
  [8, "RESOURCE_EXHAUSTED", EXHAUSTED],
  [9, "FAILED_PRECONDITION", TURNED_DOWN],
  [10, "ABORTED", TURNED_DOWN],
  [11, "OUT_OF_RANGE", TURNED_DOWN],
  [12, "UNIMPLEMENTED", TURNED_DOWN],
  [13, "INTERNAL", BROKEN],
  [14, "UNAVAILABLE", UNAVAILABLE],
  [15, "DATA_LOSS", TURNED_DOWN],
  [16, "UNAUTHENTICATED", TURNED_DOWN],
])("%d and %s, in any spelling, have one verdict", (code, name, expected) => {
  const spellings = [code, String(code), name, name.toLowerCase()];
  expect(spellings.map((spelling) => classifyGrpc(spelling))).toEqual(
    spellings.map(() => expected),
  );
});

test.each([17, -1, 1.5, Number.NaN, "", "BUSY", "constructor"])(
  "the code %s is not known, and so UNKNOWN",
  (code) => {
    expect(classifyGrpc(code)).toEqual(BROKEN);
  },
);

test("Connect's spelling of a cancelled call is known", () => {
  expect(classifyGrpc("canceled")).toEqual(TURNED_DOWN);
});

test.each([
  ["UNAVAILABLE", "250", { ...UNAVAILABLE, retriable: "safe", pauseMs: 250 }],
  ["RESOURCE_EXHAUSTED", "0", { ...EXHAUSTED, retriable: "safe", pauseMs: 0 }],
  ["INTERNAL", "250", { ...BROKEN, pauseMs: 250 }],
  ["UNAVAILABLE", "-1", { ...UNAVAILABLE, retriable: "never" }],
  ["UNAVAILABLE", "soon", { ...UNAVAILABLE, retriable: "never" }],
  ["INTERNAL", "", { ...BROKEN, retriable: "never" }],
  // Pushback permits nothing that the code forbids.
  ["NOT_FOUND", "250", TURNED_DOWN],
  ["OK", "250", SERVED],
])("%s with pushback %j", (code, pushback, expected) => {
  expect(classifyGrpc(code, pushback)).toEqual(expected);
});
