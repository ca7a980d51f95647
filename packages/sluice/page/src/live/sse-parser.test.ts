import { expect, test } from "vitest";
import { SseParser } from "./sse-parser.ts";

const TEXT =
  'event: hello\ndata: {"a":1}\n\n: a comment\r\nevent: sample\r\ndata: 1\r\ndata: 2\r\n\r\ndata: x\n\n';
const EVENTS = [
  { name: "hello", data: '{"a":1}' },
  { name: "sample", data: "1\n2" },
  { name: "message", data: "x" },
];

test("the same events come out however the stream is cut", () => {
  expect(new SseParser().push(TEXT)).toEqual(EVENTS);
  for (const size of [1, 2, 3, 7]) {
    const parser = new SseParser();
    const chunks = TEXT.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(
      chunks.flatMap((chunk) => parser.push(chunk)),
      `chunks of ${size}`,
    ).toEqual(EVENTS);
  }
});

test("an event without data is none", () => {
  expect(new SseParser().push("event: sample\n\n")).toEqual([]);
});

test("a stream that never ends an event is given up", () => {
  const parser = new SseParser();
  const chunk = `data: ${"x".repeat(999_990)}\n`;
  expect(() => {
    for (let count = 0; count < 6; count++) parser.push(chunk);
  }).toThrow("longer than 4000000 characters");
});
