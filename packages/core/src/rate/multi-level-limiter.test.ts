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
    return new CompoundLimiter(clock, reason, {
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

test("accepted work is charged to every level, and the first short one gives the reason", () => {
  fc.assert(
    fc.property(rates, charges, (each, history) => {
      const levels = levelsOf(each);
      const limiter = new MultiLevelLimiter(clock, levels);
      let expected = each.flatMap(({ messages, bytes }) => [messages, bytes]);
      for (const [messages, bytes] of history) {
        expected = expected.map((left, i) => left - (i % 2 === 0 ? messages : bytes));
        const short = levels.find((_, i) =>
          expected.slice(2 * i, 2 * i + 2).some((left) => left <= 0),
        );
        expect(limiter.chargeAndCheck(messages, bytes)).toBe(short?.reason);
        expect(balancesOf(levels)).toEqual(expected);
        expect(limiter.hasTokens()).toBe(short === undefined);
      }
    }),
  );
});

test("refusable work is charged to every level or, refused by any, to none", () => {
  fc.assert(
    fc.property(rates, charges, (each, history) => {
      const levels = levelsOf(each);
      const limiter = new MultiLevelLimiter(clock, levels);
      for (const [messages, bytes] of history) {
        const before = balancesOf(levels);
        const refusing = levels.find((level) => !level.canTake(messages, bytes));
        expect(limiter.tryAcquire(messages, bytes)).toBe(refusing?.reason);
        const charged = before.map((left, i) => left - (i % 2 === 0 ? messages : bytes));
        expect(balancesOf(levels)).toEqual(refusing === undefined ? charged : before);
      }
    }),
  );
});

test("limiters that share a level use it up together", () => {
  const broker = new CompoundLimiter(clock, "broker-rate", { messages: { rate: 10 } });
  const topic = () => new CompoundLimiter(clock, "topic-rate", { messages: { rate: 8 } });
  const one = new MultiLevelLimiter(clock, [topic(), broker]);
  const other = new MultiLevelLimiter(clock, [topic(), broker]);
  expect(one.chargeAndCheck(6, 0)).toBeUndefined();
  expect(other.chargeAndCheck(5, 0)).toBe("broker-rate");
  expect(one.tryAcquire(1, 0)).toBe("broker-rate");
});

test("the longest pause is told with its reason, and none if no level asks for one", () => {
  const levels = levelsOf([
    { messages: 10, bytes: 1000 },
    { messages: 20, bytes: 100 },
    { messages: 100, bytes: 1000 },
  ]);
  const limiter = new MultiLevelLimiter(clock, levels);
  expect(limiter.pause()).toBeUndefined();
  limiter.charge(10, 0);
  expect(limiter.pause()).toEqual({ pauseMs: 100, reason: "topic-rate" });
  limiter.charge(0, 120);
  expect(limiter.pause()).toEqual({ pauseMs: 210, reason: "group-rate" });
});

test("no levels let everything pass", () => {
  const limiter = new MultiLevelLimiter(clock, []);
  expect([limiter.chargeAndCheck(1e9, 1e9), limiter.tryAcquire(1e9, 1e9), limiter.pause()]).toEqual(
    [undefined, undefined, undefined],
  );
});
