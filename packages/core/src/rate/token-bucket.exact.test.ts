import fc from "fast-check";
import { expect, test } from "vitest";
import { toNanos } from "../time.ts";
import { TokenBucket } from "./token-bucket.ts";

const COUNT_MAX = 2 ** 53;
const YEAR_NANOS = 365 * 86_400 * 1e9;

interface Settings {
  readonly rate: number;
  readonly periodMs: number;
  readonly capacity: number;
  readonly initialTokens: number;
  readonly resolutionMs: number;
}

/** Pulsar's algorithm in unbounded integers, with an exact part of a token carried over. */
class Reference {
  readonly #rate: bigint;
  readonly #period: bigint;
  readonly #capacity: bigint;
  readonly #resolution: bigint;
  #balance: bigint;
  #last: bigint;
  /** Of a token, in parts of the period. */
  #carried = 0n;

  constructor(settings: Settings, nowNanos: bigint) {
    this.#rate = BigInt(settings.rate);
    this.#period = BigInt(toNanos(settings.periodMs));
    this.#capacity = BigInt(settings.capacity);
    this.#resolution = BigInt(toNanos(settings.resolutionMs));
    this.#balance = BigInt(settings.initialTokens);
    this.#last = nowNanos;
  }

  tokens(nowNanos: bigint): bigint {
    const gained = this.#parts(nowNanos) / this.#period;
    if (gained <= 0n) return this.#balance;
    const sum = this.#balance + gained;
    return sum < this.#capacity ? sum : this.#capacity;
  }

  charge(count: bigint, nowNanos: bigint): void {
    const perToken = this.#period / this.#rate;
    const started = this.#carried / this.#rate;
    const gap = perToken > this.#resolution ? perToken - started - 1n : this.#resolution;
    if (nowNanos > this.#last + gap) {
      this.#balance = this.tokens(nowNanos);
      this.#carried = this.#parts(nowNanos) % this.#period;
      this.#last = nowNanos;
    }
    const balance = this.#balance - count;
    this.#balance = balance > -BigInt(COUNT_MAX) ? balance : -BigInt(COUNT_MAX);
  }

  pauseNanos(count: bigint, nowNanos: bigint): bigint {
    const target = count < this.#capacity ? count : this.#capacity;
    const tokens = this.tokens(nowNanos);
    if (tokens >= target) return 0n;
    const parts = (target - tokens) * this.#period - (this.#parts(nowNanos) % this.#period);
    return (parts + this.#rate - 1n) / this.#rate;
  }

  /** What has come since the last refill, in parts of the period. */
  #parts(nowNanos: bigint): bigint {
    return (nowNanos - this.#last) * this.#rate + this.#carried;
  }
}

/** Small ones, powers of ten, and anything up to `max`. */
function upTo(max: number): fc.Arbitrary<number> {
  const powers = fc.nat(15).map((exponent) => Math.min(max, 10 ** exponent));
  return fc.oneof(
    fc.integer({ min: 1, max: Math.min(max, 1000) }),
    powers,
    fc.integer({ min: 1, max }),
  );
}

const count = fc.oneof(upTo(Number.MAX_SAFE_INTEGER), fc.constant(COUNT_MAX), fc.constant(0));

const settings: fc.Arbitrary<Settings> = fc.record({
  rate: upTo(1e12),
  periodMs: fc.oneof(fc.constantFrom(1, 1000, 10_000), fc.integer({ min: 1, max: 10_000 })),
  capacity: upTo(Number.MAX_SAFE_INTEGER),
  initialTokens: upTo(Number.MAX_SAFE_INTEGER),
  resolutionMs: fc.constantFrom(0, 16),
});

const step = fc.record({
  waitNanos: fc.oneof(upTo(1e9), upTo(YEAR_NANOS / 4)),
  /** Instead, to wait until the bucket is about to hold `count`. */
  waitsForCount: fc.boolean(),
  count,
});

test("balances and pauses are those of unbounded integers at any magnitude", () => {
  fc.assert(
    fc.property(
      settings,
      fc.array(step, { maxLength: 20 }),
      upTo(1e15),
      (options, steps, start) => {
        let nowMs = start / 1e6;
        const bucket = new TokenBucket({ ...options, clock: { now: () => nowMs } });
        const reference = new Reference(options, BigInt(toNanos(nowMs)));
        for (const { waitNanos, waitsForCount, count: charged } of steps) {
          const pauseNanos = toNanos(bucket.pauseMs(charged));
          nowMs += (waitsForCount && pauseNanos < YEAR_NANOS ? pauseNanos + 20 : waitNanos) / 1e6;
          const nowNanos = BigInt(toNanos(nowMs));
          expect(BigInt(bucket.tokens())).toBe(reference.tokens(nowNanos));
          bucket.chargeAndCheck(charged);
          reference.charge(BigInt(charged), nowNanos);
          expect(BigInt(bucket.tokens())).toBe(reference.tokens(nowNanos));
          const target = BigInt(Math.max(1, Math.floor(options.capacity / 100)));
          const durationNanos = reference.pauseNanos(target, nowNanos);
          expect(bucket.throttlingDurationMs()).toBe(Number(durationNanos) / 1e6);
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test("many short irregular stretches bring what one long one does", () => {
  const stretches = fc.array(upTo(1e12), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(upTo(1e6), fc.constantFrom(7, 1000, 10_000), stretches, (rate, periodMs, nanos) => {
      const bucket = new TokenBucket({
        clock: { now: () => 0 },
        rate,
        periodMs,
        capacity: COUNT_MAX,
        initialTokens: 0,
        resolutionMs: 0,
      });
      let nowNanos = 0;
      for (const stretch of nanos) {
        nowNanos += stretch;
        bucket.charge(0, nowNanos / 1e6);
      }
      const exact = (BigInt(nowNanos) * BigInt(rate)) / BigInt(periodMs * 1e6);
      expect(BigInt(bucket.tokens(nowNanos / 1e6))).toBe(exact);
    }),
  );
});

// The nanoseconds between the two instants do not fit a double: rounded, they bring a token more.
test("a bucket left for a year lacks the token that is a nanosecond short", () => {
  const bucket = new TokenBucket({
    clock: { now: () => 1e-6 },
    rate: 1,
    periodMs: 4e-6,
    capacity: COUNT_MAX,
    initialTokens: 0,
  });
  expect(bucket.tokens(YEAR_NANOS / 1e6)).toBe(YEAR_NANOS / 4 - 1);
});

// From 2^33 ms (99 days) to 2^53 ns a clock's steps are two nanoseconds, a bucket's still one.
test("a token is there at the first instant after it is due, also where instants are sparse", () => {
  const startMs = 2 ** 33;
  const options = { rate: 1, periodMs: 2e-6, initialTokens: 0, resolutionMs: 0 };
  const bucket = new TokenBucket({ ...options, clock: { now: () => startMs } });
  expect(bucket.tokens(startMs + 2 ** -19)).toBe(1);
});
