import fc from "fast-check";
import { expect, test } from "vitest";
import { CompoundLimiter } from "./compound-limiter.ts";

const clock = { now: () => 0 };
const counts = fc.array(fc.tuple(fc.nat(20), fc.nat(2000)), { maxLength: 30 });

test("messages and bytes are always charged together, whichever is used up", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.boolean()), (charges, checked) => {
      const limiter = new CompoundLimiter({
        clock,
        reason: "topic-rate",
        messages: { rate: 100 },
        bytes: { rate: 10_000 },
      });
      let messagesLeft = 100;
      let bytesLeft = 10_000;
      for (const [i, [messages, bytes]] of charges.entries()) {
        messagesLeft -= messages;
        bytesLeft -= bytes;
        if (checked[i] === true) limiter.charge(messages, bytes);
        else {
          const areLeft = messagesLeft > 0 && bytesLeft > 0;
          expect(limiter.chargeAndCheck(messages, bytes)).toBe(areLeft);
        }
        expect([limiter.messages?.tokens(), limiter.bytes?.tokens()]).toEqual([
          messagesLeft,
          bytesLeft,
        ]);
        expect(limiter.hasTokens()).toBe(messagesLeft > 0 && bytesLeft > 0);
      }
    }),
  );
});

test("what lacks either messages or bytes is refused and charged to neither", () => {
  const limiter = new CompoundLimiter({
    clock,
    reason: "topic-rate",
    messages: { rate: 10 },
    bytes: { rate: 1000 },
  });
  limiter.charge(5, 500);
  const asks: readonly (readonly [number, number])[] = [
    [6, 500],
    [5, 501],
    [5, 500],
    [1, 1],
  ];
  const answers = asks.map(([messages, bytes]) => limiter.tryAcquire(messages, bytes));
  expect(answers).toEqual([false, false, true, false]);
  expect([limiter.messages?.tokens(), limiter.bytes?.tokens()]).toEqual([0, 0]);
});

test("the throttling lasts until both are back at their targets", () => {
  const limiter = new CompoundLimiter({
    clock,
    reason: "topic-rate",
    messages: { rate: 10 },
    bytes: { rate: 1000 },
  });
  limiter.charge(10, 2000);
  expect(limiter.throttlingDurationMs()).toBe(1010);
  limiter.charge(10, 0);
  expect(limiter.throttlingDurationMs()).toBe(1100);
});

test("a limit in one of them ignores the other, and none lets everything pass", () => {
  const bytesOnly = new CompoundLimiter({ clock, reason: "broker-rate", bytes: { rate: 10 } });
  expect(bytesOnly.chargeAndCheck(1_000_000, 9)).toBe(true);
  expect(bytesOnly.chargeAndCheck(0, 1)).toBe(false);
  const none = new CompoundLimiter({ clock, reason: "broker-rate" });
  expect(none.chargeAndCheck(1e9, 1e9)).toBe(true);
  expect([none.canAcquire(1e9, 1e9), none.hasTokens(), none.pauseMs(1, 1)]).toEqual([
    true,
    true,
    0,
  ]);
});

test("a refusal carries the limiter's reason, by default that of a local rate", () => {
  const local = new CompoundLimiter({ clock, messages: { rate: 1 } });
  const topic = new CompoundLimiter({ clock, messages: { rate: 1 }, reason: "topic-rate" });
  expect(local.admit(1, 0)).toEqual({ ok: true, reason: undefined });
  expect(local.admit(1, 0)).toEqual({ ok: false, reason: "rate" });
  topic.charge(1, 0);
  expect(topic.admit(1, 0)).toEqual({ ok: false, reason: "topic-rate" });
});

test("equal answers are one frozen object, so that answering allocates nothing", () => {
  const limiter = new CompoundLimiter({ clock, messages: { rate: 2 } });
  const [first, second, third, fourth] = [1, 1, 1, 1].map((count) => limiter.admit(count, 0));
  expect(first).toBe(second);
  expect(third).toBe(fourth);
  expect([first, third].every(Object.isFrozen)).toBe(true);
});
