import fc from "fast-check";
import { expect, test } from "vitest";
import { CompoundLimiter } from "./compound-limiter.ts";
import { MultiLevelLimiter } from "./multi-level-limiter.ts";

const clock = { now: () => 0 };

/** Full levels of a topic, its group and the broker. */
function levelsOf(rates: readonly { messages: number; bytes: number }[]): CompoundLimiter[] {
  const reasons = ["topic-rate", "group-rate", "broker-rate"] as const;
  return reasons.map((reason, i) => {
    const { messages, bytes } = rates[i] ?? { messages: 1, bytes: 1 };
    return new CompoundLimiter({
      clock,
      reason,
      messages: { rate: messages },
      bytes: { rate: bytes },
    });
  });
}

function balancesOf(levels: readonly CompoundLimiter[]): number[] {
  return levels.flatMap((level) => [level.messages?.tokens() ?? 0, level.bytes?.tokens() ?? 0]);
}

const rate = fc.record({
  messages: fc.integer({ min: 1, max: 50 }),
  bytes: fc.integer({ min: 1, max: 500 }),
});
const rates = fc.array(rate, { minLength: 3, maxLength: 3 });
const charges = fc.array(fc.tuple(fc.nat(20), fc.nat(200)), { maxLength: 20 });

test("accepted work is charged to every level, and every short one asks for a pause", () => {
  fc.assert(
    fc.property(rates, charges, (each, history) => {
      const levels = levelsOf(each);
      const limiter = new MultiLevelLimiter(levels);
      let expected = each.flatMap(({ messages, bytes }) => [messages, bytes]);
      for (const [messages, bytes] of history) {
        expected = expected.map((left, i) => left - (i % 2 === 0 ? messages : bytes));
        const areLeft = expected.every((left) => left > 0);
        expect(limiter.chargeAndCheck(messages, bytes)).toBe(areLeft);
        expect(balancesOf(levels)).toEqual(expected);
        expect(limiter.hasTokens()).toBe(areLeft);
        if (!areLeft) expect(limiter.throttlingDurationMs()).toBeGreaterThan(0);
      }
    }),
  );
});

test("refusable work is charged to every level or, refused by any, to none, with its reason", () => {
  fc.assert(
    fc.property(rates, charges, (each, history) => {
      const levels = levelsOf(each);
      const limiter = new MultiLevelLimiter(levels);
      for (const [messages, bytes] of history) {
        const before = balancesOf(levels);
        const refusing = levels.find((level) => !level.canAcquire(messages, bytes));
        const answer = { ok: refusing === undefined, reason: refusing?.reason };
        expect(limiter.admit(messages, bytes)).toEqual(answer);
        const charged = before.map((left, i) => left - (i % 2 === 0 ? messages : bytes));
        expect(balancesOf(levels)).toEqual(refusing === undefined ? charged : before);
      }
    }),
  );
});

test("limiters that share a level use it up together", () => {
  const broker = new CompoundLimiter({ clock, reason: "broker-rate", messages: { rate: 10 } });
  const topic = () => new CompoundLimiter({ clock, reason: "topic-rate", messages: { rate: 8 } });
  const one = new MultiLevelLimiter([topic(), broker]);
  const other = new MultiLevelLimiter([topic(), broker]);
  expect(one.chargeAndCheck(6, 0)).toBe(true);
  expect(other.chargeAndCheck(5, 0)).toBe(false);
  expect([one.tryAcquire(1, 0), one.admit(1, 0).reason]).toEqual([false, "broker-rate"]);
});

test("the longest throttling is told with its reason, and none if no level asks for one", () => {
  const levels = levelsOf([
    { messages: 10, bytes: 1000 },
    { messages: 20, bytes: 100 },
    { messages: 100, bytes: 1000 },
  ]);
  const limiter = new MultiLevelLimiter(levels);
  expect(limiter.throttling()).toBeUndefined();
  limiter.charge(10, 0);
  expect(limiter.throttling()).toEqual({ durationMs: 100, reason: "topic-rate" });
  limiter.charge(0, 120);
  expect(limiter.throttling()).toEqual({ durationMs: 210, reason: "group-rate" });
});

test("no levels let everything pass", () => {
  const limiter = new MultiLevelLimiter([]);
  expect([limiter.chargeAndCheck(1e9, 1e9), limiter.tryAcquire(1e9, 1e9)]).toEqual([true, true]);
  expect([limiter.throttling(), limiter.pauseMs(1, 1)]).toEqual([undefined, 0]);
});

test("one level over time answers as it would alone", () => {
  const step = fc.record({
    waitMs: fc.oneof(fc.constant(0), fc.nat(40), fc.nat(2000)),
    messages: fc.nat(30),
    call: fc.constantFrom("tryAcquire" as const, "chargeAndCheck" as const),
  });
  fc.assert(
    fc.property(rate, fc.array(step, { maxLength: 40 }), ({ messages, bytes }, history) => {
      let nowMs = 0;
      const limits = { messages: { rate: messages }, bytes: { rate: bytes } };
      const make = () => new CompoundLimiter({ ...limits, clock: { now: () => nowMs } });
      const alone = make();
      const limiter = new MultiLevelLimiter([make()]);
      for (const { waitMs, messages: count, call } of history) {
        nowMs += waitMs;
        expect(limiter[call](count, 2 * count)).toBe(alone[call](count, 2 * count));
      }
    }),
  );
});

test("a limit raised at the instant of a refusal admits at once", () => {
  const topic = new CompoundLimiter({ clock, messages: { rate: 10, capacity: 100 } });
  const limiter = new MultiLevelLimiter([topic]);
  const isAdmittedAt = (nowMs: number): boolean => limiter.tryAcquire(10, 0, nowMs);
  expect([isAdmittedAt(0), isAdmittedAt(500)]).toEqual([true, false]);
  topic.messages?.setRate(1000, 500);
  expect([isAdmittedAt(504.999), isAdmittedAt(505)]).toEqual([false, true]);
});

test("levels with different clocks are refused", () => {
  const levels = [0, 1].map((ms) => new CompoundLimiter({ clock: { now: () => ms } }));
  expect(() => new MultiLevelLimiter(levels)).toThrow("different clocks");
});
