import { expect, test } from "vitest";
import { Segment } from "../segment/segment.ts";
import { layOut } from "../segment/slab.ts";
import { CacheBudget, TailCache } from "./tail-cache.ts";

const ALL = { countMax: Infinity, bytesMax: Infinity };

/** A cache of its own log, to which entries of 1000 bytes are added, each in a slab of its own. */
class Source {
  readonly cache: TailCache;
  readonly #segment = new Segment(0, Buffer.alloc(8, 1));

  constructor(budget: CacheBudget) {
    this.cache = new TailCache(budget);
  }

  add(count: number): void {
    for (let added = 0; added < count; added++) {
      const entry = { parts: [Buffer.alloc(1000)], messageCount: 1, publishedAtMs: 0 };
      for (const slab of layOut(this.#segment, [entry])) this.cache.add(slab);
      this.#segment.grow(1040, 0);
    }
  }

  /** Ids of what is found from an entry on. */
  from(entryId: number): readonly number[] {
    return this.cache.read({ ledgerId: 0, entryId }, ALL).map(({ position }) => position.entryId);
  }
}

test("keeps the newest entries within its budget, and what is gone is not found", () => {
  const budget = new CacheBudget(5 * 1300);
  const source = new Source(budget);
  source.add(100);
  expect(budget.usedBytes).toBeLessThanOrEqual(5 * 1300);
  expect(source.from(95)).toEqual([95, 96, 97, 98, 99]);
  expect(source.from(98)).toEqual([98, 99]);
  expect(source.from(94)).toEqual([]);
  expect(source.from(100)).toEqual([]);
  expect(source.cache.read({ ledgerId: 1, entryId: 98 }, ALL)).toEqual([]);
});

test("a read that stops within a slab does not go on with the next one", () => {
  const cache = new TailCache(new CacheBudget(1e6));
  const segment = new Segment(0, Buffer.alloc(8, 1));
  for (const sizes of [[30, 30], [10]]) {
    const entries = sizes.map((size) => ({
      parts: [Buffer.alloc(size)],
      messageCount: 1,
      publishedAtMs: 0,
    }));
    for (const slab of layOut(segment, entries)) cache.add(slab);
    for (const size of sizes) segment.grow(40 + size, 0);
  }
  const idsWithin = (bytesMax: number): number[] =>
    cache
      .read({ ledgerId: 0, entryId: 0 }, { countMax: Infinity, bytesMax })
      .map(({ position }) => position.entryId);
  expect(idsWithin(45)).toEqual([0]);
  expect(idsWithin(65)).toEqual([0, 1]);
  expect(idsWithin(70)).toEqual([0, 1, 2]);
});

test("logs share a budget, and what came first goes first, whosever it is", () => {
  const budget = new CacheBudget(5 * 1300);
  const [one, other] = [new Source(budget), new Source(budget)];
  one.add(3);
  other.add(4);
  expect(one.from(1)).toEqual([]);
  expect(one.from(2)).toEqual([2]);
  expect(other.from(0)).toEqual([0, 1, 2, 3]);
});

test("a closed log's entries are gone at once and make room in their turn", () => {
  const budget = new CacheBudget(5 * 1300);
  const [one, other] = [new Source(budget), new Source(budget)];
  one.add(5);
  one.cache.close();
  expect(one.from(4)).toEqual([]);
  other.add(9);
  expect(other.from(4)).toEqual([4, 5, 6, 7, 8]);
});

test("a slab larger than the whole budget is not kept", () => {
  const budget = new CacheBudget(100);
  const source = new Source(budget);
  source.add(2);
  expect(budget.usedBytes).toBe(0);
  expect(source.from(1)).toEqual([]);
});
