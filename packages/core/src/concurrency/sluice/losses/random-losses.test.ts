import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RandomLosses } from "./random-losses.ts";
import type { LossKind } from "./random-losses.ts";

const RTT_MS = 100;

/** Ends of attempts, a millisecond apart, each after a round trip. */
class Ends {
  readonly losses = new RandomLosses();
  limit = 10;
  #nowMs = 0;

  serve(count: number): void {
    for (let left = count; left > 0; left--) this.losses.onServed(this.#times(), true);
  }

  lose(isSinceCut = true): void {
    this.losses.onLoss(this.#times(), isSinceCut);
  }

  /** One of `every` is lost, `losses` times; a loss comes last. Returns the kinds that were found. */
  spread(every: number, losses: number, context: { isFirst?: boolean; isShared?: boolean } = {}) {
    const kinds: LossKind[] = [];
    for (let left = losses; left > 0; left--) {
      this.serve(every - 1);
      this.lose();
      const kind = this.judge(context);
      kinds.push(kind);
      if (kind === "doubt") this.losses.onHalved(this.#nowMs);
      else if (kind !== "random") break;
    }
    return kinds;
  }

  judge({ isFirst = true, isShared = false, isSlowed = true } = {}): LossKind {
    return this.losses.judge({ isFirst, isSlowed, isShared, isSteady: true, limit: this.limit });
  }

  cut(): void {
    this.losses.onCut(this.#nowMs, true);
  }

  #times() {
    this.#nowMs++;
    return { startedAtMs: this.#nowMs - RTT_MS, endedAtMs: this.#nowMs };
  }
}

/** Losses at `every` that neither a cut nor half of the rate lessened. */
function setUpInVain(every: number): Ends {
  const ends = new Ends();
  ends.spread(every, 20);
  ends.cut();
  expect(ends.spread(every, 200).at(-1)).toBe("in-vain");
  return ends;
}

describe("before a cut", () => {
  test("two losses are random, whenever they come", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), (first, second) => {
        const ends = new Ends();
        ends.serve(first);
        ends.lose();
        expect(ends.judge()).toBe("random");
        ends.serve(second);
        ends.lose();
        expect(ends.judge()).toBe("random");
      }),
    );
  });

  test("one in a hundred is random, however many that are", () => {
    expect(new Set(new Ends().spread(100, 200))).toEqual(new Set(["random"]));
  });

  test("one in five is load after a few", () => {
    expect(new Ends().spread(5, 8).at(-1)).toBe("load");
  });

  test("three in a row are load, whatever was served before", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), (served) => {
        const ends = new Ends();
        ends.serve(served);
        for (let lost = 0; lost < 3; lost++) ends.lose();
        expect(ends.judge()).toBe("load");
      }),
    );
  });
});

describe("after a cut", () => {
  test("losses of attempts that started before it do not count", () => {
    const ends = new Ends();
    ends.spread(5, 8);
    ends.cut();
    ends.serve(1);
    for (let lost = 0; lost < 100; lost++) ends.lose(false);
    expect(ends.judge({ isFirst: false })).toBe("random");
  });

  test("with nothing served, half a limit of losses is load, and fewer are random", () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 200 }), (limit) => {
        const ends = new Ends();
        ends.cut();
        ends.limit = limit;
        const least = Math.ceil(limit / 2);
        for (let lost = 1; lost < least; lost++) ends.lose();
        expect(ends.judge({ isFirst: false })).toBe("random");
        ends.lose();
        expect(ends.judge({ isFirst: false })).toBe("load");
      }),
    );
  });

  test.each([8, 10, 20, 30])(
    "one in %d as before is random, once half the rate confirms it",
    (every) => {
      const ends = new Ends();
      ends.spread(every, 20);
      ends.cut();
      const kinds = ends.spread(every, 200).filter((kind) => kind !== "random");
      expect(kinds).toEqual(["doubt", "in-vain"]);
    },
  );

  test("losses that a cut lessens are never in vain", () => {
    const ends = new Ends();
    ends.spread(5, 20);
    ends.cut();
    ends.serve(500);
    expect(ends.losses.takeOfUse()?.isHalved).toBe(false);
    expect(ends.spread(200, 50)).not.toContain("in-vain");
  });

  test("losses of a limit that others share are never in vain", () => {
    const ends = new Ends();
    ends.spread(10, 20);
    ends.cut();
    expect(ends.spread(10, 200, { isShared: true })).not.toContain("doubt");
  });

  test("more than three losses in ten are load, whatever slowing down did", () => {
    const ends = new Ends();
    ends.spread(2, 20);
    ends.cut();
    ends.serve(1);
    expect(ends.spread(2, 200, { isFirst: false }).at(-1)).toBe("load");
  });
});

describe("losses that slowing down does not lessen", () => {
  test("are tolerated from then on", () => {
    const ends = setUpInVain(20);
    expect(ends.losses.areMany).toBe(true);
    expect(new Set(ends.spread(20, 100))).toEqual(new Set(["random"]));
  });

  test("are load when they become many more", () => {
    expect(setUpInVain(20).spread(2, 60).at(-1)).toBe("load");
  });

  test("are tolerated for a while only", () => {
    const ends = setUpInVain(10);
    for (let windows = 0; windows < 5000; windows++) ends.losses.age();
    expect(ends.losses.areMany).toBe(false);
  });

  test("are confirmed anew once the limit is three times as large", () => {
    const ends = setUpInVain(20);
    ends.limit = 31;
    expect(ends.spread(20, 1)).toEqual(["doubt"]);
  });
});
