import { expect, test } from "vitest";
import { parseBytes } from "./byte-size.ts";

test.each([
  ["0B", 0],
  ["1KB", 1000],
  ["281kB", 281_000],
  ["1KiB", 1024],
  ["1.5GiB", 1.5 * 1024 ** 3],
  ["200MB", 200_000_000],
  ["10", undefined],
  ["10mb", undefined],
  ["-1B", undefined],
  ["0.5B", undefined],
  ["999999999TiB", undefined],
  ["", undefined],
])("%s is %s", (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});
