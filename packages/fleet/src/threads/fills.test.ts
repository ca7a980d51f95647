import fc from "fast-check";
import { expect, test } from "vitest";
import { afterSteps, runInterleaved } from "../../test/threads-interleaved.ts";
import type { Fill } from "./accrual.ts";
import { Fills } from "./fills.ts";
import { bytesFor } from "./layout.ts";

const THREADS = 3;

function fillOf(number: bigint): Fill {
  return { atNanos: number, issued: 2n * number, level: 3n * number };
}

test("a fill is read whole, and of those who replace one only one succeeds", () => {
  const call = fc.record({ after: afterSteps, thread: fc.nat(THREADS - 1), reads: fc.boolean() });
  const calls = fc.array(call, { minLength: 2, maxLength: 40 });
  fc.assert(
    fc.property(calls, (waiting) => {
      const fills = new Fills(new SharedArrayBuffer(bytesFor(THREADS)), THREADS);
      fills.start(fillOf(1n));
      let replaced = 0n;
      runInterleaved(waiting, ({ thread, reads }) => {
        const fill = fills.read();
        expect(fill).toMatchObject(fillOf(fill.atNanos));
        if (reads) return;
        if (fills.replace(fill, fillOf(fill.atNanos + 1n), thread)) replaced += 1n;
      });
      expect(fills.read()).toMatchObject(fillOf(1n + replaced));
    }),
    { numRuns: 1000 },
  );
});
