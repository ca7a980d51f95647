import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../time.ts";
import { CompoundLimiter } from "./compound-limiter.ts";
import { KeyedBuckets } from "./keyed-buckets.ts";
import { MultiLevelLimiter } from "./multi-level-limiter.ts";
import type { RateOptions } from "./rate-options.ts";
import { TokenBucket } from "./token-bucket.ts";

const NANO_MS = 1e-6;

/** What all limiters have in common, asked for `count` messages of two bytes. */
interface Limiter {
  tryAcquire(count: number): boolean;
  pauseMs(count: number): number;
  chargeAndCheck(count: number): boolean;
  /** Asks everything that can be asked. */
  ask(count: number): void;
}

/** A limiter that takes messages and bytes. */
function pairOf(limiter: CompoundLimiter | MultiLevelLimiter): Limiter {
  return {
    tryAcquire: (count) => limiter.tryAcquire(count, 2 * count),
    pauseMs: (count) => limiter.pauseMs(count, 2 * count),
    chargeAndCheck: (count) => limiter.chargeAndCheck(count, 2 * count),
    ask: (count) => {
      limiter.pauseMs(count, 2 * count);
      limiter.canAcquire(count, 2 * count);
      limiter.hasTokens();
      limiter.throttlingDurationMs();
    },
  };
}

const LIMITERS: Readonly<Record<string, (clock: Clock, rate: RateOptions) => Limiter>> = {
  TokenBucket: (clock, rate) => {
    const bucket = new TokenBucket({ ...rate, clock });
    return {
      tryAcquire: (count) => bucket.tryAcquire(count),
      pauseMs: (count) => bucket.pauseMs(count),
      chargeAndCheck: (count) => bucket.chargeAndCheck(count),
      ask: (count) => {
        bucket.pauseMs(count);
        bucket.canAcquire(count);
        bucket.hasTokens();
        bucket.tokens();
        bucket.throttlingDurationMs();
      },
    };
  },
  KeyedBuckets: (clock, rate) => {
    const buckets = new KeyedBuckets({ ...rate, clock });
    // A key begins to fill with its first ask.
    buckets.tryAcquire("key", 0);
    return {
      tryAcquire: (count) => buckets.tryAcquire("key", count),
      pauseMs: (count) => buckets.pauseMs("key", count),
      chargeAndCheck: (count) => buckets.chargeAndCheck("key", count),
      ask: (count) => {
        buckets.pauseMs("key", count);
        buckets.tokens("key");
      },
    };
  },
  CompoundLimiter: (clock, rate) =>
    pairOf(new CompoundLimiter({ clock, messages: rate, bytes: { ...rate, rate: 700 } })),
  MultiLevelLimiter: (clock, rate) => {
    const topic = new CompoundLimiter({ clock, messages: rate, bytes: { rate: 900 } });
    const broker = new CompoundLimiter({ clock, messages: { rate: 300, capacity: 50 } });
    return pairOf(new MultiLevelLimiter([topic, broker]));
  },
};

const rates: fc.Arbitrary<RateOptions> = fc.record({
  rate: fc.integer({ min: 1, max: 5000 }),
  periodMs: fc.constantFrom(1000, 700, 60_000),
  capacity: fc.integer({ min: 1, max: 500 }),
  resolutionMs: fc.constantFrom(0, 16),
});
const counts = fc.oneof(fc.nat(20), fc.nat(1000));

type Call = "tryAcquire" | "chargeAndCheck" | "pauseMs";

interface Step {
  readonly waitMs: number;
  readonly count: number;
  readonly call: Call;
}

const histories: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    /** Tenths of a millisecond, mostly around the resolution. */
    waitMs: fc.oneof(fc.nat(200), fc.nat(400), fc.nat(20_000)).map((tenths) => tenths / 10),
    count: counts,
    call: fc.constantFrom<Call>("tryAcquire", "chargeAndCheck", "pauseMs"),
  }),
  { maxLength: 20 },
);

describe.each(Object.entries(LIMITERS))("%s", (_, make) => {
  /** A limiter with a history, and a way to let time pass. */
  function replay(rate: RateOptions, history: readonly Step[]) {
    let nowMs = 0;
    const limiter = make({ now: () => nowMs }, rate);
    for (const { waitMs, count, call } of history) {
      nowMs += waitMs;
      limiter[call](count);
    }
    const admitsAfter = (ms: number, count: number): boolean => {
      nowMs += ms;
      return limiter.tryAcquire(count);
    };
    return { limiter, admitsAfter };
  }

  /** What the calls of a history answer; `asks`: with questions between them. */
  function answers(rate: RateOptions, history: readonly Step[], asks: boolean): unknown[] {
    let nowMs = 0;
    const limiter = make({ now: () => nowMs }, rate);
    return history.map(({ waitMs, count, call }) => {
      nowMs += waitMs / 2;
      if (asks) limiter.ask(count);
      nowMs += waitMs / 2;
      if (asks) limiter.ask(1);
      return limiter[call](count);
    });
  }

  test("asking changes nothing: answers are the same with questions between them", () => {
    fc.assert(
      fc.property(rates, histories, (rate, history) => {
        expect(answers(rate, history, true)).toEqual(answers(rate, history, false));
      }),
      { numRuns: 200 },
    );
  });

  test("an ask is admitted after exactly its pause and refused a nanosecond before", () => {
    fc.assert(
      fc.property(rates, histories, counts, (rate, history, count) => {
        const { limiter, admitsAfter } = replay(rate, history);
        const pauseMs = limiter.pauseMs(count);
        if (pauseMs > 0) {
          const early = replay(rate, history);
          expect(early.limiter.pauseMs(count)).toBe(pauseMs);
          expect(early.admitsAfter(pauseMs - NANO_MS, count)).toBe(false);
        }
        expect(admitsAfter(pauseMs, count)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("the pause after a refusal is never 0, and questions on the way do not lengthen it", () => {
    fc.assert(
      fc.property(rates, histories, counts, fc.nat(99), (rate, history, count, percent) => {
        const { limiter, admitsAfter } = replay(rate, history);
        if (admitsAfter(0, count)) return;
        const pauseMs = limiter.pauseMs(count);
        expect(pauseMs).toBeGreaterThan(0);
        const partMs = Math.floor((pauseMs * percent) / 100);
        expect(admitsAfter(partMs, count)).toBe(false);
        expect(admitsAfter(pauseMs - partMs, count)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test.each([Number.NaN, -3, 0.5, Infinity, 2 ** 54])(
    "a count of %d is refused by name",
    (count) => {
      const { limiter } = replay({ rate: 10 }, []);
      for (const call of ["tryAcquire", "chargeAndCheck", "pauseMs"] as const) {
        const message = new RegExp(`(count|messages) of \\w+\\.${call} is ${count}; use a whole`);
        expect(() => limiter[call](count)).toThrow(message);
      }
      expect(limiter.tryAcquire(10)).toBe(true);
    },
  );
});
