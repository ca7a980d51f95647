import { expect, test } from "vitest";
import { retryAfterSeconds } from "./ingest-answers.ts";

test.each([
  ["the missing room at the present pace", 11, { room: 1, perSecond: 5 }, 2],
  ["at least a second", 1, { room: 0, perSecond: 1_000 }, 1],
  ["at most a minute", 1_000, { room: 0, perSecond: 0.1 }, 60],
  ["two seconds while the pace is not known", 1, { room: 0, perSecond: 0 }, 2],
])("Retry-After is %s", (_, count, facts, seconds) => {
  expect(retryAfterSeconds(count, { bufferMax: 100, ...facts })).toBe(seconds);
});
