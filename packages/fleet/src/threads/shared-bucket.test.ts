import { ConfigError, InvariantError } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";
import { expect, test } from "vitest";
import type { SharedBucketOptions } from "./settings.ts";
import { SharedBucket } from "./shared-bucket.ts";

const NANO_MS = 1e-6;

/** A bucket as `threads` threads see it, at time 0. */
function setUp(options: SharedBucketOptions, threads: number = 2) {
  const clock = new VirtualClock();
  const first = SharedBucket.create({ ...options, clock });
  const others = Array.from({ length: threads - 1 }, () =>
    SharedBucket.attach(structuredClone(first.handle), { clock }),
  );
  return { clock, first, second: others[0] ?? first };
}

test("a new bucket is full, and what one thread takes is gone for the other", () => {
  const { first, second } = setUp({ rate: 100 });
  expect([first.tryAcquire(60), second.tryAcquire(41), second.tryAcquire(40)]).toEqual([
    true,
    false,
    true,
  ]);
  expect([first.balance(), second.balance()]).toEqual([0, 0]);
});

test("it fills at its rate up to its capacity and stays there", () => {
  const { clock, first } = setUp({ rate: 10, capacity: 100, resolutionMs: 0 });
  first.tryAcquire(100);
  const after = [5000, 1000, 4000, 5000].map((ms) => {
    clock.advance(ms);
    return first.balance();
  });
  expect(after).toEqual([50, 60, 100, 100]);
});

test("an idle thread keeps no token from another", () => {
  const { first, second } = setUp({ rate: 1000 });
  first.tryAcquire(1);
  expect([second.tryAcquire(999), second.balance()]).toEqual([true, 0]);
});

test("after a long time the bucket is full, whatever was spent before", () => {
  const { clock, first, second } = setUp({ rate: 10, capacity: 100 });
  first.tryAcquire(1);
  first.tryAcquire(20);
  second.tryAcquire(70);
  clock.advance(3_600_000);
  expect(second.balance()).toBe(100);
});

test.each([0, 16])("more than the capacity is refused even by a full bucket (%d ms)", (ms) => {
  const { clock, first } = setUp({ rate: 10, resolutionMs: ms });
  clock.advance(60_000);
  expect([first.tryAcquire(11), first.balance(), first.tryAcquire(10)]).toEqual([false, 10, true]);
});

test("a charge is never refused; what is missing is debt, and the pause pays it back", () => {
  const { clock, first, second } = setUp({ rate: 10, capacity: 100, resolutionMs: 0 });
  second.tryAcquire(1);
  first.charge(149);
  expect([first.balance(), second.tryAcquire(1), second.pauseMs()]).toEqual([-50, false, 5100]);
  clock.advance(5100);
  expect([second.tryAcquire(1), first.tryAcquire(1)]).toEqual([true, false]);
});

test("a charge takes what other threads hold before it goes into debt", () => {
  const { first, second } = setUp({ rate: 1000 });
  second.tryAcquire(1);
  first.charge(1000);
  expect([first.balance(), second.tryAcquire(1)]).toEqual([-1, false]);
});

test("debt has a bottom, at 2^53", () => {
  const { first } = setUp({ rate: 10 });
  first.charge(2 ** 53);
  first.charge(2 ** 53);
  expect(first.balance()).toBe(-(2 ** 53));
});

test("a slow rate gives each token when it is due, or one resolution later", () => {
  const { clock, first, second } = setUp({ rate: 3, capacity: 3, resolutionMs: 0 });
  first.tryAcquire(3);
  clock.advance(333.333333);
  expect([first.tryAcquire(1), first.pauseMs()]).toEqual([false, NANO_MS]);
  clock.advance(NANO_MS);
  expect([first.tryAcquire(1), second.tryAcquire(1)]).toEqual([true, false]);
});

test("nearly full it is looked at sixteen times as often, so that little flows over", () => {
  const { clock, first } = setUp({ rate: 1000 });
  first.tryAcquire(1000);
  // The first of sixteen milliseconds is lost: nobody knows when within it the tokens were spent.
  clock.advance(2);
  expect(first.balance()).toBe(1);
  clock.advance(16);
  expect(first.balance()).toBe(1);
  clock.advance(NANO_MS);
  expect(first.balance()).toBe(17);
});

test("a small bucket under a high rate still lets the whole rate pass", () => {
  const { clock, first, second } = setUp({ rate: 1000, capacity: 10 });
  let passed = 0;
  for (let tenths = 0; tenths < 100_000; tenths++) {
    clock.advance(0.1);
    while ((tenths % 2 === 0 ? first : second).tryAcquire(1)) passed++;
  }
  expect(passed).toBeGreaterThan(9_990);
  expect(passed).toBeLessThanOrEqual(10_010);
});

test("a place is free again after release, and what was held with it", () => {
  const { clock, first, second } = setUp({ rate: 100, maxThreads: 2 });
  second.tryAcquire(1);
  expect(() => SharedBucket.attach(first.handle, { clock })).toThrow(ConfigError);
  second.release();
  second.release();
  const third = SharedBucket.attach(first.handle, { clock });
  expect([third.tryAcquire(99), first.balance()]).toEqual([true, 0]);
});

test("the place of a thread that has ended is free after it was reclaimed", () => {
  const { clock, first } = setUp({ rate: 100, maxThreads: 2 }, 1);
  SharedBucket.attach(first.handle, { clock, owner: 7 }).tryAcquire(1);
  first.reclaim(8);
  expect(() => SharedBucket.attach(first.handle, { clock })).toThrow("2 threads are attached");
  first.reclaim(7);
  const third = SharedBucket.attach(first.handle, { clock });
  expect([third.balance(), third.tryAcquire(99)]).toEqual([99, true]);
});

test.each<[string, (bucket: SharedBucket) => void]>([
  ["tryAcquire", (bucket) => bucket.tryAcquire(1)],
  ["charge", (bucket) => bucket.charge(1)],
  ["pauseMs", (bucket) => bucket.pauseMs()],
  ["balance", (bucket) => bucket.balance()],
  ["flush", (bucket) => bucket.flush()],
  ["reclaim", (bucket) => bucket.reclaim(7)],
])("%s after release is a mistake", (_, use) => {
  const { first, second } = setUp({ rate: 100 });
  second.tryAcquire(1);
  second.release();
  expect(() => use(second)).toThrow(InvariantError);
  expect(first.balance()).toBe(99);
});

test("what was flushed is there for all, and nothing is lost", () => {
  const { first, second } = setUp({ rate: 100 });
  first.tryAcquire(1);
  first.flush();
  first.flush();
  expect([second.balance(), second.tryAcquire(99), first.tryAcquire(1)]).toEqual([99, true, false]);
});

test("huge counts are exact", () => {
  const { first, second } = setUp({ rate: 2 ** 52 });
  expect(first.tryAcquire(1)).toBe(true);
  expect(second.tryAcquire(2 ** 52 - 2)).toBe(true);
  expect([first.balance(), first.tryAcquire(2), first.tryAcquire(1)]).toEqual([1, false, true]);
});

test.each([-1, 0.5, Number.NaN, 2 ** 54])("a count of %d is a mistake", (count) => {
  const { first } = setUp({ rate: 10 });
  expect(() => first.tryAcquire(count)).toThrow(InvariantError);
  expect(() => first.charge(count)).toThrow(InvariantError);
  expect(() => first.pauseMs(count)).toThrow(InvariantError);
});

test.each<[string, SharedBucketOptions]>([
  ["rate is 0", { rate: 0 }],
  ["rate is 1.5", { rate: 1.5 }],
  ["periodMs is 0", { rate: 1, periodMs: 0 }],
  ["capacity is 0", { rate: 1, capacity: 0 }],
  ["capacity is 9007199254740992", { rate: 1, capacity: 2 ** 53 }],
  ["resolutionMs is -1", { rate: 1, resolutionMs: -1 }],
  ["resolutionMs is NaN", { rate: 1, resolutionMs: Number.NaN }],
  ["maxThreads is 0", { rate: 1, maxThreads: 0 }],
  ["maxThreads is 1025", { rate: 1, maxThreads: 1025 }],
])("%s is refused", (message, options) => {
  expect(() => setUp(options, 1)).toThrow(ConfigError);
  expect(() => setUp(options, 1)).toThrow(message);
});

test("a clock that tells no time is refused", () => {
  const clock = { now: () => Number.NaN };
  expect(() => SharedBucket.create({ rate: 1, clock })).toThrow(ConfigError);
});
