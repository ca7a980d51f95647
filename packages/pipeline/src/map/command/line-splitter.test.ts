import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

function linesOf(chunks: readonly Buffer[], lineBytesMax = 1_000): (string | symbol)[] {
  const lines: (string | symbol)[] = [];
  const splitter = new LineSplitter({
    lineBytesMax,
    onLine: (line) => lines.push(line),
    onTooLong: () => lines.push(TOO_LONG),
  });
  for (const chunk of chunks) splitter.add(chunk);
  splitter.end();
  return lines;
}

const TOO_LONG = Symbol("too long");

test("any chunking of the same bytes gives the same lines", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "ü", "\n", "€") });
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (content, cuts) => {
      const bytes = Buffer.from(content);
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted(
        (a, b) => a - b,
      );
      const chunks = at.slice(1).map((to, index) => bytes.subarray(at[index], to));
      expect(linesOf(chunks)).toEqual(content.split("\n").filter((line) => line !== ""));
    }),
  );
});

test("a line that is too long is reported once and passed over, however it comes; the next is read", () => {
  const long = Buffer.from(`${"x".repeat(50)}\nnext\n`);
  expect(linesOf([long], 10)).toEqual([TOO_LONG, "next"]);
  expect(
    linesOf(
      [...long].map((byte) => Buffer.from([byte])),
      10,
    ),
  ).toEqual([TOO_LONG, "next"]);
});
