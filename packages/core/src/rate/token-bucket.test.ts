import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";
import type { TokenBucketOptions } from "./token-bucket.ts";

const NANO_MS = 1e-6;

/** A bucket at time 0, and a way to let time pass. */
function setUp(options: TokenBucketOptions) {
  let nowMs = 0;
  const bucket = new TokenBucket({ ...options, clock: { now: () => nowMs } });
  /** The balance once `ms` more have passed. */
  const tokensAfter = (ms: number): number => {
    nowMs += ms;
    return bucket.tokens();
  };
  return { bucket, tokensAfter };
}

test("a rate alone makes a bucket, on the real clock, full and counting by one", () => {
  const bucket = new TokenBucket({ rate: 2 });
  expect([bucket.tryAcquire(), bucket.tryAcquire(), bucket.tryAcquire()]).toEqual([
    true,
    true,
    false,
  ]);
  expect(bucket.pauseMs()).toBeGreaterThan(0);
});

test.each([
  [{ rate: 1000, capacity: 10 }, 10],
  [{ rate: 10, capacity: 1000 }, 10],
  [{ rate: 10 }, 10],
])("%j starts with the smaller of rate and capacity", (options, tokens) => {
  expect(setUp(options).bucket.tokens()).toBe(tokens);
});

test("an empty bucket fills at its rate up to its capacity and stays there", () => {
  const { tokensAfter } = setUp({ rate: 10, capacity: 100, initialTokens: 0 });
  expect([5000, 1000, 4000, 5000].map(tokensAfter)).toEqual([50, 60, 100, 100]);
});

test("a charge beyond the balance is debt, and the pause pays it back", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10, capacity: 100, initialTokens: 0 });
  tokensAfter(15_000);
  bucket.charge(100);
  expect(bucket.tokens()).toBe(0);
  expect(tokensAfter(1000)).toBe(10);
  expect(tokensAfter(4000)).toBe(50);
  expect(bucket.chargeAndCheck(100)).toBe(false);
  expect([bucket.tokens(), bucket.throttlingDurationMs()]).toEqual([-50, 5100]);
  expect(tokensAfter(5100)).toBe(1);
});

test("part of a token is kept until the rest has come", () => {
  const { tokensAfter } = setUp({ rate: 10, capacity: 100, initialTokens: 0 });
  expect([100, 150, 150].map(tokensAfter)).toEqual([1, 2, 4]);
  const other = setUp({ rate: 10, capacity: 100, initialTokens: 0 });
  expect([150, 150].map(other.tokensAfter)).toEqual([1, 3]);
});

test("a charge sees new tokens only when more than the resolution has passed", () => {
  const { bucket, tokensAfter } = setUp({ rate: 1000, initialTokens: 0 });
  const checkAfter = (ms: number): [number, boolean] => [tokensAfter(ms), bucket.chargeAndCheck(0)];
  expect([16, NANO_MS].map(checkAfter)).toEqual([
    [16, false],
    [16, true],
  ]);
  bucket.charge(16);
  expect([16, NANO_MS].map(checkAfter)).toEqual([
    [16, false],
    [16, true],
  ]);
});

// As doubles, a million times 4.1 is just below 4,100,000 and a million times 16.1 just above.
test.each([4.1, 16.1])("a resolution of %d ms is exact to the nanosecond", (resolutionMs) => {
  const { bucket } = setUp({ rate: 1000, initialTokens: 0, resolutionMs });
  const instants = [resolutionMs, resolutionMs + NANO_MS];
  expect(instants.map((nowMs) => bucket.chargeAndCheck(0, nowMs))).toEqual([false, true]);
});

test("a rate whose token takes longer than the resolution gives each token when it is due", () => {
  const { bucket } = setUp({ rate: 3, initialTokens: 0, capacity: 10 });
  const instants = [333.333333, 333.333334, 666.666666, 666.666667, 999.999999, 1000];
  expect(instants.map((nowMs) => bucket.tokens(nowMs))).toEqual([0, 1, 1, 2, 2, 3]);
});

test("with a resolution of 0 the balance is current to the nanosecond", () => {
  const { tokensAfter } = setUp({ rate: 1e9, initialTokens: 0, resolutionMs: 0 });
  expect([NANO_MS, NANO_MS, 1].map(tokensAfter)).toEqual([1, 2, 1_000_002]);
});

test("what overflows a full bucket does not pay for the charge of the same call", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10, capacity: 100 });
  tokensAfter(60_000);
  bucket.chargeAndCheck(150, 120_000);
  expect(bucket.tokens(120_000)).toBe(-50);
});

test("a start above the capacity is kept until the first new token flows over", () => {
  const { bucket } = setUp({ rate: 3, capacity: 10, initialTokens: 50 });
  bucket.charge(20);
  const instants = [0, 333.333333, 333.333334];
  expect(instants.map((nowMs) => bucket.tokens(nowMs))).toEqual([30, 30, 10]);
});

test("the charge that takes the last token leaves none, the one before leaves one", () => {
  const { bucket } = setUp({ rate: 10 });
  expect([bucket.chargeAndCheck(9), bucket.chargeAndCheck(1)]).toEqual([true, false]);
  expect(bucket.hasTokens()).toBe(false);
});

test("an ask takes all that it asks for or nothing", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10 });
  bucket.charge(5);
  expect([bucket.tryAcquire(6), tokensAfter(0)]).toEqual([false, 5]);
  expect([bucket.tryAcquire(5), tokensAfter(0)]).toEqual([true, 0]);
});

test("a full bucket lets a larger count pass, into debt, and one short of full does not", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10 });
  expect([bucket.tryAcquire(25), tokensAfter(0)]).toEqual([true, -15]);
  expect(tokensAfter(2400)).toBe(9);
  expect(bucket.tryAcquire(25)).toBe(false);
  expect(tokensAfter(100)).toBe(10);
  expect(bucket.tryAcquire(25)).toBe(true);
});

test("debt beyond the most that is kept is forgiven", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10, maxDebt: 30 });
  bucket.charge(1_000_000);
  expect(tokensAfter(0)).toBe(-30);
  expect(tokensAfter(3000)).toBe(0);
  bucket.chargeAndCheck(31, 3000);
  expect(tokensAfter(0)).toBe(-30);
});

test.each([
  ["one token", { rate: 10 }, 100],
  ["1 % of the capacity", { rate: 1000 }, 10],
  ["1 % of the capacity, rounded down", { rate: 100, capacity: 299 }, 20],
  ["the target", { rate: 100, targetTokens: 50 }, 500],
  ["a full bucket where the target is above it", { rate: 10, targetTokens: 1000 }, 1000],
  ["one token where the target is none", { rate: 10, targetTokens: 0 }, 100],
])("throttling from nothing ends at %s", (_, options, durationMs) => {
  const { bucket } = setUp({ ...options, initialTokens: 0 });
  expect(bucket.throttlingDurationMs()).toBe(durationMs);
});

test("a pause is rounded up to the nanosecond and there is none once the tokens are there", () => {
  const { bucket } = setUp({ rate: 3, initialTokens: 0 });
  expect([bucket.pauseMs(1), bucket.pauseMs(3), bucket.pauseMs(0)]).toEqual([333.333334, 1000, 0]);
  expect([bucket.pauseMs(1, 333), bucket.pauseMs(2, 400)]).toEqual([0.333334, 266.666667]);
});

test("a clock that is behind by some time adds that time to the pause", () => {
  const { bucket } = setUp({ rate: 10, initialTokens: 0 });
  expect(bucket.tokens(500)).toBe(5);
  expect([bucket.pauseMs(6, 500), bucket.pauseMs(6, 300)]).toEqual([100, 300]);
});

test("a new rate keeps debt and pays it back at the new rate", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10, capacity: 100, initialTokens: 0 });
  bucket.charge(50);
  bucket.setRate(100);
  expect([bucket.tokens(), bucket.pauseMs(1)]).toEqual([-50, 510]);
  expect(tokensAfter(1000)).toBe(50);
});

test("time before a new rate counts at the old one, within the resolution as well", () => {
  const { bucket, tokensAfter } = setUp({ rate: 1000, capacity: 1000, initialTokens: 0 });
  tokensAfter(10);
  bucket.setRate(100);
  expect(tokensAfter(0)).toBe(10);
  expect(tokensAfter(100)).toBe(20);
});

test("a new rate that comes while the clock is behind adds nothing and takes nothing", () => {
  const { bucket } = setUp({ rate: 1000, capacity: 1000, initialTokens: 0 });
  bucket.charge(0, 500);
  bucket.setRate(100, 200);
  expect([500, 600].map((nowMs) => bucket.tokens(nowMs))).toEqual([500, 510]);
});

test("a started token is worth the same part of a token at a new rate", () => {
  const { bucket, tokensAfter } = setUp({ rate: 1, capacity: 10, initialTokens: 0 });
  tokensAfter(500);
  bucket.setRate(2);
  expect([tokensAfter(249), tokensAfter(1)]).toEqual([0, 1]);
});

test("a capacity that was never set follows the rate, down at once and up with time", () => {
  const { bucket, tokensAfter } = setUp({ rate: 100 });
  bucket.setRate(10);
  expect([bucket.capacity, tokensAfter(0)]).toEqual([10, 10]);
  bucket.setRate(1000);
  expect([bucket.capacity, tokensAfter(0), tokensAfter(5000)]).toEqual([1000, 10, 1000]);
});

test("a capacity that was set stays whatever the rate", () => {
  const { bucket, tokensAfter } = setUp({ rate: 10, capacity: 25 });
  bucket.setRate(1000);
  expect([bucket.capacity, tokensAfter(1000)]).toEqual([25, 25]);
});

test("a charge to an idle bucket is paid from its tokens, not forgiven by its refill", () => {
  const { bucket } = setUp({ rate: 10 });
  const hourMs = 3_600_000;
  bucket.charge(10, hourMs);
  expect([bucket.tryAcquire(1, hourMs), bucket.tokens(hourMs)]).toEqual([false, 0]);
});
