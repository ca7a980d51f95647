import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualTimer } from "../testing.ts";
import { AlarmHeap } from "./alarm-heap.ts";
import type { Alarm } from "./alarm-heap.ts";
import { Alarms } from "./alarms.ts";

test("the first of a heap is the soonest, in any order of additions and removals", () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ add: fc.nat(1000) }) },
      { weight: 1, arbitrary: fc.record({ remove: fc.nat(60) }) },
    ),
    { maxLength: 120, size: "max" },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const heap = new AlarmHeap<Alarm>();
      const added: Alarm[] = [];
      const model = new Set<Alarm>();
      for (const step of all) {
        if ("add" in step) {
          const alarm: Alarm = { dueMs: step.add, place: undefined };
          added.push(alarm);
          model.add(alarm);
          heap.add(alarm);
        } else {
          const alarm = added[step.remove];
          if (alarm !== undefined) expect(heap.remove(alarm)).toBe(model.delete(alarm));
        }
        expect(heap.size).toBe(model.size);
        const soonest = Math.min(...[...model].map(({ dueMs }) => dueMs));
        expect(heap.first?.dueMs ?? Number.POSITIVE_INFINITY).toBe(soonest);
      }
      const order: number[] = [];
      for (let first = heap.first; first !== undefined; first = heap.first) {
        order.push(first.dueMs);
        heap.remove(first);
      }
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }),
    { numRuns: 500 },
  );
});

class Bell {
  place: number | undefined;
  rangAtMs: number | undefined;
  readonly dueMs: number;

  constructor(dueMs: number) {
    this.dueMs = dueMs;
  }

  ring(nowMs: number): void {
    this.rangAtMs = nowMs;
  }
}

test("every alarm rings at its time on one sleep, and clearing the last leaves none", async () => {
  const timer = new VirtualTimer();
  const alarms = new Alarms(timer);
  const bells = [30, 10, 20, 10].map((dueMs) => new Bell(dueMs));
  for (const bell of bells) {
    alarms.set(bell, 0);
    await timer.advance(0);
    expect(timer.sleeping).toBe(1);
  }
  await timer.advance(15);
  expect(bells.map(({ rangAtMs }) => rangAtMs)).toEqual([undefined, 10, undefined, 10]);
  for (const bell of bells) alarms.clear(bell);
  await timer.advance(0);
  expect(timer.sleeping).toBe(0);
  expect(alarms.size).toBe(0);
});

test("rings exactly those that are not cleared before, never early", async () => {
  const plan = fc.array(
    fc.record({ dueMs: fc.integer({ min: 0, max: 100 }), clearAtMs: fc.option(fc.nat(100)) }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(plan, async (all) => {
      const timer = new VirtualTimer();
      const alarms = new Alarms(timer);
      const bells = all.map(({ dueMs }) => new Bell(dueMs));
      for (const bell of bells) alarms.set(bell, 0);
      for (let nowMs = 0; nowMs <= 100; nowMs += 10) {
        all.forEach(({ clearAtMs }, i) => {
          const bell = bells[i];
          if (clearAtMs !== null && clearAtMs <= nowMs && bell !== undefined) alarms.clear(bell);
        });
        await timer.advance(10);
      }
      bells.forEach((bell, i) => {
        const clearAtMs = all[i]?.clearAtMs ?? undefined;
        const isCleared = clearAtMs !== undefined && Math.ceil(clearAtMs / 10) * 10 < bell.dueMs;
        if (clearAtMs === undefined || Math.ceil(clearAtMs / 10) * 10 > bell.dueMs)
          expect(bell.rangAtMs).toBe(bell.dueMs);
        if (isCleared) expect(bell.rangAtMs).toBeUndefined();
      });
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 30 },
  );
});
