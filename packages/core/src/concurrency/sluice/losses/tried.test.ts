import fc from "fast-check";
import { expect, test } from "vitest";
import { Tried } from "./tried.ts";

const MAX = 50;

/** More may be in flight than the limit can ever be. */
const inFlight = fc.oneof(fc.integer({ min: 1, max: MAX }), fc.integer({ min: 1, max: 3 * MAX }));

const event = fc.record({
  kind: fc.constantFrom("start", "start", "served", "forget"),
  of: inFlight,
});

/** What came of some events, told one a millisecond, and what a plain list of them says. */
function setUp(events: readonly { readonly kind: string; readonly of: number }[]) {
  const tried = new Tried(MAX);
  const firstAtMs = new Map<number, number>();
  let servedAt = 0;
  for (const [nowMs, { kind, of }] of events.entries()) {
    if (kind === "start") {
      tried.onStart(nowMs, of);
      for (let less = 1; less <= Math.min(of, MAX); less++)
        firstAtMs.set(less, firstAtMs.get(less) ?? nowMs);
    } else if (kind === "served") {
      tried.onServed(of);
      servedAt = Math.max(servedAt, of);
    } else {
      tried.forgetAbove(of);
      servedAt = Math.min(servedAt, of);
      for (const known of firstAtMs.keys()) if (known > of) firstAtMs.delete(known);
    }
  }
  return { tried, firstAtMs, servedAt };
}

test("knows which attempt was the first with so many in flight, since more were forgotten", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const { tried, firstAtMs } = setUp(events);
      for (let known = 1; known <= 3 * MAX; known++) {
        const firsts = events.flatMap((_, atMs) => (tried.isFirst(atMs, known) ? [atMs] : []));
        const atMs = firstAtMs.get(known);
        expect(firsts).toEqual(atMs === undefined ? [] : [atMs]);
      }
    }),
  );
});

test("a number that was passed over counts as tried with the larger one", () => {
  const tried = new Tried(MAX);
  tried.onStart(1, 2);
  tried.onStart(5, 9);
  tried.onStart(6, 7);
  expect([2, 3, 7, 9].map((known) => tried.isFirst(5, known))).toEqual([false, true, true, true]);
  expect(tried.isFirst(6, 7)).toBe(false);
});

test("knows the most that was served, for a loss with more than that, and 1 at least", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), inFlight, (events, lostAt) => {
      const { tried, servedAt } = setUp(events);
      const most = Math.max(1, servedAt);
      expect(tried.servedBelow(lostAt)).toBe(lostAt > most ? most : undefined);
    }),
  );
});

test("a loss with one in flight leaves nothing below", () => {
  expect(new Tried(MAX).servedBelow(1)).toBeUndefined();
});

test("what is forgotten counts as never tried and never served, the rest stays", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: MAX }), fc.nat(), (count, drawn) => {
      const tried = new Tried(MAX);
      for (let each = 1; each <= count; each++) tried.onStart(each, each);
      tried.onServed(count);
      const left = 1 + (drawn % (count - 1));
      tried.forgetAbove(left);
      for (let each = 1; each <= count; each++) {
        expect(tried.isFirst(each, each)).toBe(each <= left);
        tried.onStart(1000, each);
        expect(tried.isFirst(1000, each)).toBe(each > left);
      }
      expect(tried.servedBelow(left + 1)).toBe(left);
    }),
  );
});

test("keeps no more than it was made for, whatever is in flight", () => {
  const tried = new Tried(MAX);
  tried.onStart(7, Number.MAX_SAFE_INTEGER);
  expect([MAX, MAX + 1].map((known) => tried.isFirst(7, known))).toEqual([true, false]);
});
