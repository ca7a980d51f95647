import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nextTurn } from "../system.ts";
import { Fifo } from "./fifo.ts";

/** Real collections, whatever flags Node was started with. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}

test("items leave in the order they came, however many and however mixed", () => {
  const counts = fc.array(fc.tuple(fc.nat(100), fc.nat(100)), { maxLength: 20 });
  fc.assert(
    fc.property(counts, (rounds) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      let next = 0;
      for (const [pushed, taken] of rounds) {
        for (let i = 0; i < pushed; i++, next++) {
          fifo.push(next);
          model.push(next);
        }
        expect([fifo.length, fifo.peek()]).toEqual([model.length, model[0]]);
        const left = Array.from({ length: taken }, () => fifo.shift());
        expect(left).toEqual(Array.from({ length: taken }, () => model.shift()));
      }
    }),
  );
});

test("an item that has left can be collected, one that waits cannot", async () => {
  const fifo = new Fifo<object>();
  const items = Array.from({ length: 40 }, () => ({}));
  const refs = items.map((item) => new WeakRef(item));
  for (const item of items.splice(0)) fifo.push(item);
  for (let i = 0; i < 30; i++) fifo.shift();
  // An object is alive until the turn in which its WeakRef was made or read has ended.
  await nextTurn();
  collectGarbage();
  expect(refs.map((ref) => ref.deref() !== undefined)).toEqual(refs.map((_, i) => i >= 30));
  expect(fifo.length).toBe(10);
});

test("after a burst has left, its slots are free again", () => {
  const fifo = new Fifo<number>();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 1_000_000; i++) fifo.push(i);
  while (fifo.length > 1) fifo.shift();
  collectGarbage();
  // The burst had 8 MB of slots.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4e6);
  expect(fifo.peek()).toBe(999_999);
});
