import fc from "fast-check";
import { expect, test } from "vitest";
import { readPerSecond } from "./per-second.ts";

test.each([
  ["1000/s", "messages", 1_000],
  ["600/min", "messages", 10],
  ["7200/h", "messages", 2],
  ["200MB/s", "bytes", 200_000_000],
  ["64KiB/s", "bytes", 65_536],
  ["60MB/min", "bytes", 1_000_000],
] as const)("%s of %s is %d per second", (text, unit, perSecond) => {
  expect(readPerSecond(text, unit)).toEqual({ perSecond });
});

test.each([
  [1000, "messages", /messages with their period, such as 1000\/s or 600\/min/],
  ["1000", "messages", /such as 1000\/s/],
  ["10MB/s", "messages", /such as 1000\/s/],
  ["1000/s", "bytes", /bytes with their period, such as 10MB\/s/],
  ["-1/s", "messages", /such as 1000\/s/],
  ["0/s", "messages", /above 0; without the key there is no limit/],
  ["100/min", "messages", /a whole number of messages per second, such as 1\/s or 2\/s/],
  ["1/h", "messages", /such as 1\/s$/],
  ["1MB/min", "bytes", /such as 16666B\/s or 16667B\/s/],
] as const)("%j of %s says what is expected", (text, unit, expected) => {
  expect(readPerSecond(text, unit)).toEqual({
    expected: expect.stringMatching(expected) as string,
  });
});

test("a rate is never rounded", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e15 - 1 }), (amount) => {
      const rate = readPerSecond(`${amount}/min`, "messages");
      if ("perSecond" in rate) expect(BigInt(rate.perSecond) * 60n).toBe(BigInt(amount));
      else expect(BigInt(amount) % 60n).not.toBe(0n);
    }),
  );
});
