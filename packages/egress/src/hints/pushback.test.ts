import fc from "fast-check";
import { expect, test } from "vitest";
import { PAUSE_MAX_MS } from "./time/decimal.ts";
import { parsePushback } from "./pushback.ts";

test.each([
  ["0", 0],
  ["250", 250],
  ["00250", 250],
  ["99999999999999999999", PAUSE_MAX_MS],
])("pushback %j allows a retry after %d ms", (value, pauseMs) => {
  expect(parsePushback(value)).toEqual({ kind: "after", pauseMs });
});

test.each(["-1", "", "soon", "1.5", "1e3", "0x10", "5, 10", " 5", "9".repeat(65)])(
  "pushback %j allows no retry",
  (value) => {
    expect(parsePushback(value)).toEqual({ kind: "never" });
  },
);

test("every whole number of milliseconds is taken as it is, every negative one forbids", () => {
  fc.assert(
    fc.property(fc.nat(), (ms) => {
      expect(parsePushback(String(ms))).toEqual({ kind: "after", pauseMs: ms });
      expect(parsePushback(`-${ms + 1}`)).toEqual({ kind: "never" });
    }),
  );
});
