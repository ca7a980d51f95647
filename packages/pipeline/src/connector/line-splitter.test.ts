import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

const LINE_MAX = 12;

test("lines are the same however the bytes are cut into chunks", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "ä", " ", "7"), maxLength: 16 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n"))),
      line,
      fc.array(fc.integer({ min: 1, max: 9 })),
      (lines, rest, cuts) => {
        const text = lines.map(([each, end]) => each + end).join("") + rest;
        const splitter = new LineSplitter(LINE_MAX);
        const found = chunksOf(Buffer.from(text), cuts).flatMap((chunk) => splitter.push(chunk));
        found.push(...splitter.end());
        const expected = [...lines.map(([each]) => each), rest].filter((each) => each !== "");
        expect(found.map(({ bytes }) => bytes?.toString())).toEqual(
          expected.map((each) => (Buffer.byteLength(each) > LINE_MAX ? undefined : each)),
        );
      },
    ),
  );
});

test("a line ends behind its line break, so that reading can go on there", () => {
  const splitter = new LineSplitter(LINE_MAX, 1000);
  expect(splitter.push(Buffer.from("ab\ncd\r\n\nef")).map(({ end }) => end)).toEqual([1003, 1007]);
  expect(splitter.end().map(({ end }) => end)).toEqual([1010]);
});

test("of a line without an end no more than the bound is held", () => {
  const splitter = new LineSplitter(LINE_MAX);
  for (let count = 0; count < 10_000; count++)
    expect(splitter.push(Buffer.alloc(99, "x"))).toEqual([]);
  expect(splitter.isTooLong).toBe(true);
  const [tooLong, next] = splitter.push(Buffer.from("\nok\n"));
  expect(tooLong?.bytes).toBeUndefined();
  expect(next?.bytes?.toString()).toBe("ok");
  expect(splitter.isTooLong).toBe(false);
});

function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let start = 0;
  for (const cut of cuts) {
    chunks.push(bytes.subarray(start, start + cut));
    start += cut;
  }
  return [...chunks, bytes.subarray(start)];
}
