import fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

const RESOLUTION_MS = 16;
const NANO_MS = 1e-6;

const options = fc.record({
  rate: fc.integer({ min: 1, max: 5000 }),
  periodMs: fc.constantFrom(1000, 700),
  capacity: fc.integer({ min: 1, max: 500 }),
  initialTokens: fc.constant(0),
});

/** Tenths of a millisecond, mostly around the resolution. */
const waitMs = fc
  .oneof(fc.constant(0), fc.nat(200), fc.nat(400), fc.nat(20_000))
  .map((tenths) => tenths / 10);
const step = fc.record({ waitMs, count: fc.nat(300), refusable: fc.boolean() });
const steps = fc.array(step, { minLength: 1, maxLength: 40 });
const resolutionMs = fc.constantFrom(0, RESOLUTION_MS);

/** Charges as one that can refuse or, if there is anything, as one that pays afterwards. */
function admits(bucket: TokenBucket, { count, refusable }: { count: number; refusable: boolean }) {
  if (refusable) return bucket.tryAcquire(count);
  if (!bucket.hasTokens()) return false;
  bucket.chargeAndCheck(count);
  return true;
}

test("over any stretch no more passes than the capacity and what its time brings", () => {
  fc.assert(
    fc.property(options, resolutionMs, steps, (settings, resolution, history) => {
      let nowMs = 0;
      const bucket = new TokenBucket({
        clock: { now: () => nowMs },
        ...settings,
        initialTokens: settings.capacity,
        resolutionMs: resolution,
      });
      const passed: { atMs: number; count: number; credit: number }[] = [];
      for (const one of history) {
        nowMs += one.waitMs;
        if (!admits(bucket, one)) continue;
        const credit = Math.min(one.count, Math.max(0, -bucket.tokens()));
        passed.push({ atMs: nowMs, count: one.count, credit });
      }
      for (const [first, { atMs }] of passed.entries()) {
        let sum = 0;
        for (const last of passed.slice(first)) {
          sum += last.count;
          // Tokens that the resolution held back before the stretch are handed out within it.
          const tenthsPassed = Math.round((last.atMs - atMs + resolution) * 10);
          const brought = Math.ceil((settings.rate * tenthsPassed) / (settings.periodMs * 10));
          expect(sum - last.credit).toBeLessThanOrEqual(settings.capacity + brought);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("a charge in two parts leaves what the whole would", () => {
  const maxDebt = fc.option(fc.nat(500), { nil: undefined });
  fc.assert(
    fc.property(options, maxDebt, steps, fc.nat(300), (settings, debt, history, part) => {
      let nowMs = 0;
      const all = { ...settings, ...(debt === undefined ? {} : { maxDebt: debt }) };
      const whole = new TokenBucket({ ...all, clock: { now: () => nowMs } });
      const split = new TokenBucket({ ...all, clock: { now: () => nowMs } });
      for (const { waitMs: ms, count } of history) {
        nowMs += ms;
        const first = Math.min(part, count);
        split.chargeAndCheck(first);
        expect(split.chargeAndCheck(count - first)).toBe(whole.chargeAndCheck(count));
        expect(split.tokens()).toBe(whole.tokens());
      }
    }),
  );
});

/** Two buckets with one history; the second is asked all sorts of things in between. */
function answersOf(
  settings: { rate: number; periodMs: number; capacity: number; initialTokens: number },
  resolution: number,
  history: readonly { waitMs: number; count: number; questions: readonly number[] }[],
) {
  let nowMs = 0;
  const all = { ...settings, resolutionMs: resolution };
  const left = new TokenBucket({ ...all, clock: { now: () => nowMs } });
  const asked = new TokenBucket({ ...all, clock: { now: () => nowMs } });
  return history.map(({ waitMs: ms, count, questions }) => {
    for (const question of questions) {
      nowMs += ms / questions.length;
      if (question % 4 === 0) asked.tokens();
      if (question % 4 === 1) asked.hasTokens();
      if (question % 4 === 2) asked.canAcquire(question);
      if (question % 4 === 3) asked.pauseMs(question);
    }
    if (questions.length === 0) nowMs += ms;
    left.chargeAndCheck(count);
    asked.chargeAndCheck(count);
    return { left: left.tokens(), asked: asked.tokens() };
  });
}

const questioned = fc.array(
  fc.record({ waitMs, count: fc.nat(300), questions: fc.array(fc.nat(1000), { maxLength: 5 }) }),
  { minLength: 1, maxLength: 40 },
);

test("asking changes nothing where the balance is always current", () => {
  fc.assert(
    fc.property(options, questioned, (settings, history) => {
      for (const { left, asked } of answersOf(settings, 0, history)) expect(asked).toBe(left);
    }),
  );
});

test("asking moves a balance by no more than two resolutions bring", () => {
  fc.assert(
    fc.property(options, questioned, (settings, history) => {
      // One for what either bucket has not added yet, one for what either had not when it was full.
      const bound = Math.ceil((2 * settings.rate * RESOLUTION_MS) / settings.periodMs);
      for (const { left, asked } of answersOf(settings, RESOLUTION_MS, history)) {
        expect(Math.abs(asked - left)).toBeLessThanOrEqual(bound);
      }
    }),
    { numRuns: 300 },
  );
});

test("after the throttling the target is there, and a nanosecond before it is not", () => {
  fc.assert(
    fc.property(options, steps, (settings, history) => {
      let nowMs = 0;
      const targetTokens = 1 + (settings.capacity % 7);
      const all = { ...settings, targetTokens, resolutionMs: 0 };
      const bucket = new TokenBucket({ ...all, clock: { now: () => nowMs } });
      for (const { waitMs: ms, count } of history) {
        nowMs += ms;
        bucket.chargeAndCheck(count);
        const target = Math.min(targetTokens, settings.capacity);
        const durationMs = bucket.throttlingDurationMs();
        expect(durationMs > 0).toBe(bucket.tokens() < target);
        if (durationMs > 0) {
          expect(bucket.tokens(nowMs + durationMs - NANO_MS)).toBe(target - 1);
        }
        nowMs += durationMs;
        expect(bucket.tokens()).toBeGreaterThanOrEqual(target);
      }
    }),
    { numRuns: 100 },
  );
});

test("a clock that steps back counts as one that stands still", () => {
  const wander = fc.array(
    fc.record({ moveMs: fc.integer({ min: -300, max: 300 }), count: fc.nat(300) }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(options, resolutionMs, wander, (settings, resolution, history) => {
      let nowMs = 1000;
      let latestMs = nowMs;
      const all = { ...settings, resolutionMs: resolution };
      const wandering = new TokenBucket({ ...all, clock: { now: () => nowMs } });
      const still = new TokenBucket({ ...all, clock: { now: () => latestMs } });
      for (const { moveMs, count } of history) {
        nowMs += moveMs;
        latestMs = Math.max(latestMs, nowMs);
        expect(wandering.chargeAndCheck(count)).toBe(still.chargeAndCheck(count));
        // With a resolution, what was due at an instant is not remembered when the clock leaves it.
        if (resolution === 0) expect(wandering.tokens()).toBe(still.tokens());
      }
    }),
  );
});
