import fc from "fast-check";
import { expect, test } from "vitest";
import { CompoundLimiter } from "./compound-limiter.ts";

const clock = { now: () => 0 };
const counts = fc.array(fc.tuple(fc.nat(20), fc.nat(2000)), { maxLength: 30 });

test("messages and bytes are always charged together, whichever is used up", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.boolean()), (charges, checked) => {
      const limiter = new CompoundLimiter(clock, "topic-rate", {
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
          const reason = messagesLeft > 0 && bytesLeft > 0 ? undefined : "topic-rate";
          expect(limiter.chargeAndCheck(messages, bytes)).toBe(reason);
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
  const limiter = new CompoundLimiter(clock, "topic-rate", {
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
  expect(answers).toEqual(["topic-rate", "topic-rate", undefined, "topic-rate"]);
  expect([limiter.messages?.tokens(), limiter.bytes?.tokens()]).toEqual([0, 0]);
});

test("the pause lasts until both are back", () => {
  const limiter = new CompoundLimiter(clock, "topic-rate", {
    messages: { rate: 10 },
    bytes: { rate: 1000 },
  });
  limiter.charge(10, 2000);
  expect(limiter.pauseMs()).toBe(1010);
  limiter.charge(10, 0);
  expect(limiter.pauseMs()).toBe(1100);
});

test("a limit in one of them ignores the other, and none lets everything pass", () => {
  const bytesOnly = new CompoundLimiter(clock, "broker-rate", { bytes: { rate: 10 } });
  expect(bytesOnly.chargeAndCheck(1_000_000, 9)).toBeUndefined();
  expect(bytesOnly.chargeAndCheck(0, 1)).toBe("broker-rate");
  const none = new CompoundLimiter(clock, "broker-rate", {});
  expect(none.chargeAndCheck(1e9, 1e9)).toBeUndefined();
  expect([none.canTake(1e9, 1e9), none.hasTokens(), none.pauseMs()]).toEqual([true, true, 0]);
});
