import { memoryUsage } from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualClock } from "../testing.ts";
import { KeyedBuckets } from "./keyed-buckets.ts";
import { TokenBucket } from "./token-bucket.ts";

const options = fc.record({
  rate: fc.integer({ min: 1, max: 2000 }),
  periodMs: fc.constantFrom(1000, 70),
  capacity: fc.integer({ min: 1, max: 500 }),
  resolutionMs: fc.constantFrom(0, 16),
});
const step = fc.record({
  waitMs: fc.oneof(fc.nat(40), fc.nat(2000)),
  key: fc.constantFrom("a", "b", "c"),
  count: fc.nat(200),
});

test("every key gets the answers of a bucket of its own", () => {
  const ask = fc.constantFrom("take", "charge", "pause", "rate");
  const steps = fc.array(fc.tuple(step, ask), { maxLength: 60 });
  fc.assert(
    fc.property(options, steps, (settings, history) => {
      let nowMs = 0;
      const clock = { now: () => nowMs };
      const keyed = new KeyedBuckets({ ...settings, initialTokens: settings.capacity, clock });
      const own = new Map<string, TokenBucket>();
      // All keys come at the start, in debt, and no further ones come: nothing is evicted.
      for (const key of ["a", "b", "c"]) {
        keyed.chargeAndCheck(key, 600);
        own.set(key, new TokenBucket({ clock, ...settings, initialTokens: settings.capacity }));
        own.get(key)?.charge(600);
      }
      for (const [{ waitMs, key, count }, asked] of history) {
        nowMs += waitMs;
        const bucket = own.get(key) as TokenBucket;
        if (asked === "take") expect(keyed.tryAcquire(key, count)).toBe(bucket.tryAcquire(count));
        if (asked === "charge") {
          expect(keyed.chargeAndCheck(key, count)).toBe(bucket.chargeAndCheck(count));
        }
        if (asked === "pause") expect(keyed.pauseMs(key, count)).toBe(bucket.pauseMs(count));
        if (asked === "rate") {
          keyed.setRate(count + 1);
          for (const each of own.values()) each.setRate(count + 1);
        }
        expect(keyed.tokens(key)).toBe(bucket.tokens());
      }
    }),
  );
});

test("a key that was forgotten has what it would have had, within the token about to come", () => {
  const steps = fc.array(fc.tuple(step, fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(options, steps, (settings, history) => {
      let nowMs = 0;
      const clock = { now: () => nowMs };
      const keyed = new KeyedBuckets({ ...settings, initialTokens: settings.capacity, clock });
      const kept = new Map<string, TokenBucket>();
      for (const [{ waitMs, key, count }, evicts] of history) {
        nowMs += waitMs;
        if (evicts) keyed.evictIdle();
        const bucket =
          kept.get(key) ??
          new TokenBucket({ clock, ...settings, initialTokens: settings.capacity });
        kept.set(key, bucket);
        keyed.chargeAndCheck(key, count);
        bucket.chargeAndCheck(count);
        expect(Math.abs(bucket.tokens() - keyed.tokens(key))).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 500 },
  );
});

test("a new key starts with the smaller of rate and capacity", () => {
  const starts = [5, 10, 20].map((capacity) => {
    const keyed = new KeyedBuckets({ clock: { now: () => 0 }, rate: 10, capacity });
    return [keyed.tokens("a"), keyed.tryAcquire("a", capacity), keyed.tryAcquire("b", 5)];
  });
  expect(starts).toEqual([
    [5, true, true],
    [10, true, true],
    [10, false, true],
  ]);
});

test("a question about a key holds neither it nor any other differently", () => {
  const clock = new VirtualClock();
  const settings = { rate: 10, capacity: 20, initialTokens: 5, maxKeys: 2 };
  const buckets = new KeyedBuckets({ ...settings, clock });
  buckets.tryAcquire("full");
  clock.advance(10_000);
  for (const key of ["a", "b", "c"]) expect(buckets.pauseMs(key, 8)).toBe(300);
  expect([buckets.size, buckets.tokens("full"), buckets.tokens("a")]).toEqual([1, 20, 5]);
  expect(buckets.tryAcquire("full", 20)).toBe(true);
});

test("a question about a key that could acquire does not hold it", () => {
  const keyed = new KeyedBuckets({ clock: { now: () => 0 }, rate: 10 });
  expect([keyed.pauseMs("a", 10), keyed.tokens("a"), keyed.size]).toEqual([0, 10, 0]);
});

test("a new rate reaches keys that are held and keys that come, and their capacity follows it", () => {
  let nowMs = 0;
  const keyed = new KeyedBuckets({ clock: { now: () => nowMs }, rate: 10 });
  keyed.chargeAndCheck("held", 30);
  keyed.setRate(100);
  expect([keyed.tokens("held"), keyed.tokens("new")]).toEqual([-20, 100]);
  expect(keyed.pauseMs("held", 1)).toBe(210);
  nowMs = 5000;
  expect(keyed.tokens("held")).toBe(100);
});

test("keys that come while no other has room share one bucket", () => {
  const keyed = new KeyedBuckets({ clock: { now: () => 0 }, rate: 10, maxKeys: 2 });
  for (const key of ["a", "b"]) keyed.chargeAndCheck(key, 1);
  expect(keyed.tokens("c")).toBe(10);
  expect([keyed.tryAcquire("c", 6), keyed.tryAcquire("d", 6), keyed.tryAcquire("d", 4)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(["c", "d", "e"].map((key) => keyed.tokens(key))).toEqual([0, 0, 0]);
  expect(["a", "b"].map((key) => keyed.tokens(key))).toEqual([9, 9]);
});

test("a flood of keys earns no more than the keys there is room for and one", () => {
  const keyed = new KeyedBuckets({ clock: { now: () => 0 }, rate: 10, maxKeys: 100 });
  let passed = 0;
  for (let i = 0; i < 100_000; i++) if (keyed.tryAcquire(`key ${i}`, 10)) passed++;
  expect([passed, keyed.size]).toEqual([101, 100]);
});

test("a new key finds room again once another is full", () => {
  let nowMs = 0;
  const keyed = new KeyedBuckets({ clock: { now: () => nowMs }, rate: 10, maxKeys: 1 });
  keyed.chargeAndCheck("a", 10);
  keyed.chargeAndCheck("b", 15);
  nowMs = 1000;
  expect([keyed.chargeAndCheck("c", 3), keyed.tokens("c")]).toEqual([true, 7]);
});

test("keys that are full again are forgotten on request, those that are not are kept", () => {
  let nowMs = 0;
  const keyed = new KeyedBuckets({ clock: { now: () => nowMs }, rate: 10 });
  keyed.chargeAndCheck("small", 1);
  keyed.chargeAndCheck("large", 10);
  keyed.chargeAndCheck("in debt", 30);
  const evictedAt = (ms: number): number => {
    nowMs = ms;
    return keyed.evictIdle();
  };
  expect([99, 100, 999, 1000, 2999, 3000].map(evictedAt)).toEqual([0, 1, 0, 1, 0, 1]);
  expect(keyed.size).toBe(0);
});

test("keys that come and go are forgotten as others come, so that few are held", () => {
  let nowMs = 0;
  const keyed = new KeyedBuckets({ clock: { now: () => nowMs }, rate: 10, capacity: 1 });
  let most = 0;
  for (let i = 0; i < 50_000; i++) {
    nowMs += 1;
    keyed.chargeAndCheck(`key ${i}`, 1);
    most = Math.max(most, keyed.size);
  }
  // A key is full after 100 others; two are looked at for each that comes.
  expect(most).toBeLessThanOrEqual(300);
});

test("keys that come and go take no more memory than those held at once", () => {
  let nowMs = 0;
  const keyed = new KeyedBuckets({ clock: { now: () => nowMs }, rate: 10, capacity: 1 });
  const before = memoryUsage().arrayBuffers;
  for (let i = 0; i < 300_000; i++) {
    nowMs += 1;
    keyed.chargeAndCheck(`key ${i}`, 1);
  }
  // 300,000 rows are 7 MB.
  expect(memoryUsage().arrayBuffers - before).toBeLessThan(2e6);
});

test("the debt of a key ends where doubles end to count", () => {
  const keyed = new KeyedBuckets({ clock: { now: () => 0 }, rate: 10 });
  keyed.chargeAndCheck("a", 2 ** 53);
  keyed.chargeAndCheck("a", 2 ** 53);
  expect(keyed.tokens("a")).toBe(-(2 ** 53));
});

test("a key that takes a forgotten one's place inherits nothing from it", () => {
  let nowMs = 0;
  const keyed = new KeyedBuckets({
    clock: { now: () => nowMs },
    rate: 3,
    capacity: 5,
    initialTokens: 5,
    maxKeys: 1,
  });
  const fresh = (key: string): number[] => {
    const starts = keyed.tokens(key);
    keyed.chargeAndCheck(key, 5);
    nowMs += 333;
    const early = keyed.tokens(key);
    nowMs += 1;
    const due = keyed.tokens(key);
    nowMs += 10_000;
    return [starts, early, due];
  };
  for (const key of ["a", "b", "c"]) {
    expect(fresh(key)).toEqual([5, 0, 1]);
    keyed.evictIdle();
  }
});

test("a misspelt option and missing options are refused with what is expected", () => {
  const misspelt = { rate: 5, capcity: 10 };
  for (const Buckets of [KeyedBuckets, TokenBucket]) {
    expect(() => new Buckets(misspelt)).toThrow('no option "capcity"; did you mean capacity?');
    expect(() => new Buckets(undefined as never)).toThrow("use for instance { rate: 100 }");
  }
});
