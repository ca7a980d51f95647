import fc from "fast-check";
import { expect, test } from "vitest";
import { Heap } from "./heap.ts";

test("items come in order, whatever was added, taken and left out between", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer(), fc.constantFrom("take", "keep"))), (acts) => {
      const heap = new Heap<number>((a, b) => a - b);
      let model: number[] = [];
      for (const act of acts) {
        if (typeof act === "number") {
          heap.add(act);
          model = [...model, act].toSorted((a, b) => a - b);
        } else if (act === "take") expect(heap.shift()).toBe(model.shift());
        else {
          heap.keep((item) => item % 3 !== 0);
          model = model.filter((item) => item % 3 !== 0);
        }
        expect([heap.length, heap.first]).toEqual([model.length, model[0]]);
      }
    }),
  );
});
