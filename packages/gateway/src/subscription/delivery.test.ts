import fc from "fast-check";
import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { messagesLeft } from "./delivery.ts";

test("messages left are the bits that are set for messages of the batch", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 6 }),
      (messageCount, ackSet) => {
        const isLeft = (index: number): boolean =>
          (((ackSet[index >> 6] ?? 0n) >> BigInt(index & 63)) & 1n) === 1n;
        const model = Array.from({ length: messageCount }, (_, index) => index).filter(isLeft);
        expect(messagesLeft(messageCount, ackSet)).toBe(model.length);
      },
    ),
  );
});

test("a batch of 100,000 messages is counted by words", () => {
  const ackSet = Array.from({ length: 1_024 }, () => -2n);
  let fastestMs = Infinity;
  for (let count = 0; count < 20; count++) {
    const startedAtMs = systemTimer.now();
    messagesLeft(100_000, ackSet);
    fastestMs = Math.min(fastestMs, systemTimer.now() - startedAtMs);
  }
  // Bit by bit it took 10 ms.
  expect(fastestMs).toBeLessThan(3);
});
