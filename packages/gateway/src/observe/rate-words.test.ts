import { expect, test } from "vitest";
import { limitText } from "./rate-words.ts";

test.each([
  [{ messages: 20_000, bytes: 50_000_000 }, "20,000/s and 50 MB/s"],
  [{ messages: 1_234_567 }, "1,234,567/s"],
  [{ bytes: 1_500_000 }, "1.5 MB/s"],
  [{ bytes: 10 * 1024 ** 2 }, "10 MiB/s"],
  [{ bytes: 64 * 1024 }, "64 KiB/s"],
  [{ bytes: 1_234_567 }, "1,234,567 B/s"],
  [undefined, "no limit"],
])("the limit %j is told without rounding: %s", (limit, text) => {
  expect(limitText(limit)).toBe(text);
});
