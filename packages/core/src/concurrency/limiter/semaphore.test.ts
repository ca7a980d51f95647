import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Waiter } from "./waiter-queue.ts";
import { Semaphore } from "./semaphore.ts";

interface Named extends Waiter {
  readonly id: number;
}

function setUp(limit: number, maxWaiting = 100) {
  const given: number[] = [];
  let isOpen = true;
  const semaphore = new Semaphore<Named>(limit, {
    maxWaiting,
    admit: () => isOpen,
    onPermit: ({ id }) => given.push(id),
  });
  const setOpen = (open: boolean): void => {
    isOpen = open;
  };
  return { semaphore, given, setOpen };
}

const waiter = (id: number, weight = 1, priority = 0): Named => ({ id, weight, priority });

test("a permit that comes back goes to the first waiter in the same step", () => {
  const { semaphore, given } = setUp(1);
  expect(semaphore.tryAcquire(1, 0)).toBe(true);
  semaphore.wait(waiter(1));
  semaphore.wait(waiter(2));
  semaphore.release(1);
  expect(given).toEqual([1]);
  expect(semaphore.inUse).toBe(1);
  expect(semaphore.tryAcquire(1, 0)).toBe(false);
});

test("a heavy first waiter is not overtaken by lighter ones, until it leaves", () => {
  const { semaphore, given } = setUp(3);
  semaphore.tryAcquire(2, 0);
  const heavy = waiter(1, 2);
  semaphore.wait(heavy);
  semaphore.wait(waiter(2, 1));
  semaphore.handOver();
  expect(given).toEqual([]);
  expect(semaphore.cancel(heavy)).toBe(true);
  expect(given).toEqual([2]);
  expect(semaphore.cancel(heavy)).toBe(false);
});

test("a weight above the limit is given once all permits are back", () => {
  const { semaphore, given } = setUp(2);
  semaphore.tryAcquire(1, 0);
  semaphore.wait(waiter(1, 5));
  semaphore.release(1);
  expect(given).toEqual([1]);
  expect(semaphore.inUse).toBe(5);
});

test("shrinking takes nothing back, and nothing is given until the use has fallen", () => {
  const { semaphore, given } = setUp(4);
  for (let i = 0; i < 4; i++) semaphore.tryAcquire(1, 0);
  semaphore.wait(waiter(1));
  semaphore.limit = 2;
  expect(semaphore.inUse).toBe(4);
  semaphore.release(1);
  semaphore.release(1);
  expect(given).toEqual([]);
  semaphore.release(1);
  expect(given).toEqual([1]);
});

test("a further condition holds the queue until handOver is called", () => {
  const { semaphore, given, setOpen } = setUp(2);
  setOpen(false);
  expect(semaphore.tryAcquire(1, 0)).toBe(false);
  semaphore.wait(waiter(1));
  semaphore.handOver();
  expect(given).toEqual([]);
  setOpen(true);
  semaphore.handOver();
  expect(given).toEqual([1]);
});

test("a late waiter is skipped, told once, and costs nothing", () => {
  const given: number[] = [];
  const late: number[] = [];
  const asked: number[] = [];
  const semaphore: Semaphore<Named> = new Semaphore<Named>(4, {
    maxWaiting: 100,
    admit: (weight) => {
      asked.push(weight);
      return true;
    },
    onPermit: ({ id }) => given.push(id),
    isLate: ({ id }) => id < 3,
    onLate: (waiting) => {
      late.push(waiting.id);
      expect(semaphore.cancel(waiting)).toBe(false);
    },
  });
  semaphore.tryAcquire(4, 0);
  for (const [id, weight] of [1, 2, 3, 4, 1].entries()) semaphore.wait(waiter(id, weight));
  asked.length = 0;
  semaphore.release(4);
  expect([late, given, asked]).toEqual([[0, 1, 2], [3], [4]]);
  expect([semaphore.inUse, semaphore.waiting]).toEqual([4, 1]);
});

describe("a full queue", () => {
  test("turns the newcomer away", () => {
    const { semaphore } = setUp(1, 1);
    semaphore.tryAcquire(1, 0);
    const [first, second] = [waiter(1), waiter(2)];
    expect(semaphore.wait(first)).toBeUndefined();
    expect(semaphore.wait(second)).toBe(second);
    expect(semaphore.waiting).toBe(1);
  });

  test("turns away the last of a lower priority instead", () => {
    const { semaphore } = setUp(1, 2);
    semaphore.tryAcquire(1, 0);
    const [low, lower] = [waiter(1, 1, -1), waiter(2, 1, -2)];
    semaphore.wait(lower);
    semaphore.wait(low);
    expect(semaphore.wait(waiter(3))).toBe(lower);
    expect(semaphore.wait(waiter(4))).toBe(low);
  });
});

test("more permits than are out cannot come back", () => {
  const { semaphore } = setUp(1);
  semaphore.tryAcquire(1, 0);
  expect(() => semaphore.release(2)).toThrow("2 permits come back, but only 1 are out");
});

test("a waiter that ends at once does not make the stack grow", () => {
  const limit = 1;
  let served = 0;
  const semaphore: Semaphore<Named> = new Semaphore<Named>(limit, {
    maxWaiting: 100_000,
    onPermit: () => {
      served++;
      semaphore.release(1);
    },
  });
  semaphore.tryAcquire(1, 0);
  for (let i = 0; i < 100_000; i++) semaphore.wait(waiter(i));
  semaphore.release(1);
  expect(served).toBe(100_000);
  expect(semaphore.inUse).toBe(0);
});

test("no more than the limit is given, no waiter is lost, and the order is kept", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ come: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ back: fc.nat(5) }),
      fc.record({ limit: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ cancel: fc.nat(40) }),
    ),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), steps, (limit, all) => {
      const out: number[] = [];
      const came = new Map<number, Named>();
      const gone = new Set<number>();
      let lastGiven = -1;
      const take = (weight: number): void => {
        const inUse = out.reduce((sum, each) => sum + each, 0);
        expect(inUse === 0 || inUse + weight <= semaphore.limit).toBe(true);
        out.push(weight);
      };
      const semaphore: Semaphore<Named> = new Semaphore<Named>(limit, {
        maxWaiting: 20,
        onPermit: ({ id, weight }) => {
          expect(id).toBeGreaterThan(lastGiven);
          lastGiven = id;
          came.delete(id);
          take(weight);
        },
      });
      let id = 0;
      for (const step of all) {
        if ("come" in step) {
          const next = waiter(id++, step.come);
          if (semaphore.tryAcquire(next.weight, 0)) {
            expect(semaphore.waiting).toBe(0);
            take(next.weight);
          } else if (semaphore.wait(next) === undefined) came.set(next.id, next);
        } else if ("back" in step) {
          const [weight] = out.splice(step.back % Math.max(1, out.length), 1);
          if (weight !== undefined) semaphore.release(weight);
        } else if ("limit" in step) {
          semaphore.limit = step.limit;
          semaphore.handOver();
        } else {
          const leaving = came.get(step.cancel);
          if (leaving === undefined) continue;
          came.delete(leaving.id);
          gone.add(leaving.id);
          expect(semaphore.cancel(leaving)).toBe(true);
        }
        expect(semaphore.inUse).toBe(out.reduce((sum, each) => sum + each, 0));
        expect(semaphore.waiting).toBe(came.size);
        // No waiter is kept waiting by permits that are free.
        const first = semaphore.first;
        expect(first !== undefined && semaphore.hasRoom(first.weight)).toBe(false);
      }
    }),
  );
});

test("a waiter that can be admitted is admitted at once, also if nothing may wait", () => {
  const { semaphore, given } = setUp(2, 0);
  expect(semaphore.wait(waiter(1))).toBeUndefined();
  expect([given, semaphore.inUse, semaphore.waiting]).toEqual([[1], 1, 0]);
});

test.each([Number.NaN, -3, 0, 0.5, Infinity])(
  "a weight of %d is refused by name and value, and changes nothing",
  (weight) => {
    const { semaphore, given } = setUp(2);
    const message = `weight is ${weight}; use a whole number from 1`;
    expect(() => semaphore.tryAcquire(weight, 0)).toThrow(message);
    expect(() => semaphore.forceAcquire(weight)).toThrow(message);
    expect(() => semaphore.wait(waiter(1, weight))).toThrow(message);
    expect([given, semaphore.inUse, semaphore.waiting]).toEqual([[], 0, 0]);
    expect(semaphore.tryAcquire(2, 0)).toBe(true);
  },
);

test.each([
  [0, 1],
  [1, -1],
  [1.5, 1],
])("refuses a limit of %s with %s waiting", (limit, maxWaiting) => {
  expect(() => new Semaphore(limit, { maxWaiting, onPermit: () => undefined })).toThrow(
    /must be a whole number/,
  );
});
