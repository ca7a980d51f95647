import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { BatchTime } from "./batch-time.ts";

test.each([
  ["messages one by one, 20 ms each", (count: number) => 20 * count],
  ["a batch at once, 650 ms", () => 650],
  ["100 ms for a batch and 5 ms for a message", (count: number) => 100 + 5 * count],
])("the time of a batch of any size is known within 30 percent: %s", (_, msOf) => {
  const random = new SeededRandom(1);
  const time = new BatchTime();
  for (let batch = 0; batch < 200; batch++) {
    const count = 1 + Math.floor(random.next() * 100);
    time.add(count, msOf(count) * (0.9 + 0.2 * random.next()));
  }
  for (const count of [20, 50, 100]) {
    expect(time.ms(count)).toBeGreaterThan(0.7 * msOf(count));
    expect(time.ms(count)).toBeLessThan(1.3 * msOf(count));
  }
});

test("batches of one size tell nothing of others, so the time is taken as proportional", () => {
  const time = new BatchTime();
  for (let batch = 0; batch < 20; batch++) time.add(60, 600);
  expect([time.ms(60), time.ms(30), time.ms(1)]).toEqual([600, 300, 10]);
});

test("before the first batch no time is known", () => {
  expect([new BatchTime().ms(10), new BatchTime().meanMs]).toEqual([0, 0]);
});
