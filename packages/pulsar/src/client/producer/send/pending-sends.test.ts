import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NO_ID } from "../../../wire/constants.ts";
import { PendingSends } from "./pending-sends.ts";
import type { PendingSend } from "./pending-sends.ts";

function send(sequenceId: bigint, messages = 1): PendingSend {
  return {
    sequenceId,
    highestSequenceId: sequenceId + BigInt(messages) - 1n,
    messages,
    sizeBytes: messages,
    frame: Buffer.alloc(0),
    calledAtMs: 0,
    throttledMsBefore: 0,
    onStored: () => undefined,
    onFailed: () => undefined,
  };
}

/** What a receipt means for a batch of three that begins with 5. */
function meaningForBatch(highest: bigint | undefined): unknown {
  const pending = new PendingSends();
  pending.push(send(5n, 3));
  pending.takeForWire();
  return pending.onReceipt(5n, highest);
}

type Step = "push" | "write" | "receipt" | "rewind" | "refuse" | "old" | "ahead";
const STEPS: readonly Step[] = ["push", "write", "receipt", "rewind", "refuse", "old", "ahead"];

test("for any writes, rewinds and receipts the order is that of push", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 100 }), (steps) => {
      const pending = new PendingSends();
      // The plainest thing that could be right: what is pending, and how many of it were written.
      let model: bigint[] = [];
      let written = 0;
      let next = 0n;
      for (const step of steps) {
        const [first = next] = model;
        if (step === "push") {
          pending.push(send(next));
          model.push(next++);
        } else if (step === "write") {
          expect(pending.takeForWire()?.sequenceId).toBe(model[written]);
          written = Math.min(written + 1, model.length);
        } else if (step === "rewind") {
          expect(pending.rewind()).toBe(written);
          written = 0;
        } else if (step === "old") {
          expect(pending.onReceipt(first - 1n, NO_ID)).toBe("stale");
        } else if (step === "ahead") {
          if (model.length > 0) expect(pending.onReceipt(first + 1n)).toBe("ahead");
        } else if (written === 0) {
          expect(pending.takeRefused(first)).toBeUndefined();
          if (model.length > 0) expect(pending.onReceipt(first)).toBe("ahead");
        } else {
          const answered =
            step === "refuse" ? pending.takeRefused(first) : pending.onReceipt(first);
          expect(answered).toMatchObject({ sequenceId: first });
          model = model.slice(1);
          written--;
        }
        expect(pending.length).toBe(model.length);
        expect(pending.first?.sequenceId).toBe(model[0]);
        expect(pending.last?.sequenceId).toBe(model.at(-1));
      }
      expect(pending.takeAll().map(({ sequenceId }) => sequenceId)).toEqual(model);
      expect(pending.length).toBe(0);
    }),
  );
});

test("a batch is stored by a receipt for its last message, or by one without a highest id", () => {
  for (const highest of [7n, 5n, 0n, NO_ID, undefined])
    expect(meaningForBatch(highest)).toMatchObject({ sequenceId: 5n });
  for (const highest of [6n, 8n]) expect(meaningForBatch(highest)).toBe("ahead");
});
