import fc from "fast-check";
import { expect, test } from "vitest";
import { afterSteps, runInterleaved } from "../../test/threads-interleaved.ts";
import { bytesFor } from "./layout.ts";
import { heldIndex, Stripes } from "./stripes.ts";

const THREADS = 3;

const call = fc.record({
  after: afterSteps,
  thread: fc.nat(THREADS - 1),
  stripe: fc.nat(THREADS - 1),
  count: fc.bigInt(0n, 30n),
  act: fc.constantFrom("draw", "draw", "spend", "fetch", "look"),
});

test("in the midst of any moves the unspent tokens are never taken for fewer than they are", () => {
  const calls = fc.array(call, { minLength: 2, maxLength: 40 });
  fc.assert(
    fc.property(calls, fc.bigInt(1n, 200n), (waiting, issued) => {
      const memory = new SharedArrayBuffer(bytesFor(THREADS));
      const stripes = new Stripes(memory, THREADS);
      const halves = new Int32Array(memory);
      for (let owner = 0; owner < THREADS; owner++) stripes.claim(owner);
      // Counted when it begins: in the midst of it the tokens may be spent or not.
      let spent = 0n;
      runInterleaved(waiting, ({ thread, stripe, count, act }) => {
        if (act === "fetch") stripes.fetch(stripe);
        else if (act === "look") {
          expect(stripes.unspent(issued)).toBeGreaterThanOrEqual(issued - spent);
        } else if (act === "draw") {
          spent += count;
          if (!stripes.draw(thread, count, issued)) spent -= count;
        } else {
          const index = heldIndex(thread);
          const held = Atomics.load(halves, index);
          if (held === 0) return;
          spent += 1n;
          if (Atomics.compareExchange(halves, index, held, held - 1) !== held) spent -= 1n;
        }
      });
      expect([stripes.unspent(issued), stripes.obtainable(issued)]).toEqual([
        issued - spent,
        issued - spent,
      ]);
    }),
    { numRuns: 2000 },
  );
});
