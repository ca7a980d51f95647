import fc from "fast-check";
import { expect, test } from "vitest";
import { REASONS } from "../reason.ts";
import { ThrottleTracker } from "./tracker.ts";

const change = fc.record({
  ends: fc.boolean(),
  reason: fc.constantFrom(...REASONS.slice(0, 4)),
});

test("reading is stopped exactly while some reason holds, and each change is told as it was", () => {
  fc.assert(
    fc.property(fc.array(change, { size: "medium", maxLength: 100 }), (changes) => {
      const tracker = new ThrottleTracker();
      /** Every hold, oldest first; a reason's oldest is given up last. */
      const holds: string[] = [];
      const isHeld = (reason: string): boolean => holds.includes(reason);
      for (const { ends, reason } of changes) {
        const before = { any: holds.length > 0, kind: isHeld(reason) };
        if (!ends) holds.push(reason);
        else if (before.kind) holds.splice(holds.lastIndexOf(reason), 1);
        const after = { any: holds.length > 0, kind: isHeld(reason) };

        const told = ends ? tracker.release(reason) : tracker.throttle(reason);
        if (before.any !== after.any) expect(told).toBe(after.any ? "paused" : "resumed");
        else if (before.kind !== after.kind) expect(told).toBe(after.kind ? "added" : "lifted");
        else expect(told).toBe(before.kind ? "counted" : "ignored");
        expect(tracker.isThrottled).toBe(after.any);
        expect(tracker.reasons()).toEqual([...new Set(holds)]);
      }
    }),
  );
});
