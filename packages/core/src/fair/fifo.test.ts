import fc from "fast-check";
import { expect, test } from "vitest";
import { Fifo } from "./fifo.ts";

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
