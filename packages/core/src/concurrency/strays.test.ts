import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Strays } from "./strays.ts";

/** Counts served ends and losses, spread evenly so that no burst is in them; a loss comes last. */
function spread(strays: Strays, served: number, losses: number): void {
  for (let lost = 1; lost <= losses; lost++) {
    const before = Math.floor((served * (lost - 1)) / losses);
    serve(strays, Math.floor((served * lost) / losses) - before);
    strays.onLoss(true);
  }
}

function serve(strays: Strays, count: number): void {
  for (let left = count; left > 0; left--) strays.onServed(true);
}

/** Losses that went with so many served ends when a cut was made for them. */
function setUpCut(served: number, losses: number): Strays {
  const strays = new Strays();
  spread(strays, served, losses);
  expect(strays.judge(true, false)).toBe("load");
  strays.onCut();
  return strays;
}

/** One in `every` was lost before a cut and after it: slowing down was in vain. */
function setUpInVain(every: number): Strays {
  const strays = setUpCut(150 * (every - 1), 150);
  spread(strays, 150 * (every - 1), 150);
  expect(strays.judge(false, true)).toBe("in-vain");
  return strays;
}

/** How many losses, one in eleven, it takes after so many windows without any. */
function lossesUntilLoad(windows: number): number {
  const strays = new Strays();
  for (let left = windows; left > 0; left--) {
    serve(strays, 100);
    strays.forget();
  }
  for (let lost = 1; ; lost++) {
    serve(strays, 10);
    strays.onLoss(true);
    if (strays.judge(true, false) === "load") return lost;
  }
}

describe("while nothing was cut", () => {
  test("two losses are strays, however little has ended and whenever they come", () => {
    const orders = fc.array(fc.boolean(), { maxLength: 20 });
    fc.assert(
      fc.property(orders, fc.boolean(), (order, isSlowed) => {
        const strays = new Strays();
        let left = 2;
        for (const isLost of order) {
          if (!isLost || left === 0) {
            strays.onServed(true);
            continue;
          }
          left--;
          strays.onLoss(true);
          expect(strays.judge(true, isSlowed)).toBe("stray");
        }
      }),
    );
  });

  test("one in a hundred is a stray, however many that are", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (losses) => {
        const strays = new Strays();
        spread(strays, 99 * losses, losses);
        expect(strays.judge(true, false)).toBe("stray");
      }),
    );
  });

  test("more than one in a hundred and chance explain are load", () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.integer({ min: 3, max: 100 }), (served, losses) => {
        const strays = new Strays();
        spread(strays, served, losses);
        const mean = 0.01 * (served + losses);
        const most = mean + 2 * Math.sqrt(mean);
        // In a burst chance explains nothing.
        const isKnown = losses > most || served > 20 * losses;
        fc.pre(isKnown);
        expect(strays.judge(true, false)).toBe(losses > Math.max(2, most) ? "load" : "stray");
      }),
    );
  });

  test("in a burst chance explains nothing: the same losses, one after the other, are load", () => {
    const [even, atOnce] = [new Strays(), new Strays()];
    spread(even, 300, 5);
    serve(atOnce, 300);
    for (let lost = 0; lost < 5; lost++) atOnce.onLoss(true);
    expect([even.judge(true, false), atOnce.judge(true, false)]).toEqual(["stray", "load"]);
  });

  test("old ends count less and less: what was served long ago excuses nothing", () => {
    // Of ten thousand, one in a hundred would be a hundred.
    expect(lossesUntilLoad(100)).toBeLessThan(10);
    expect(lossesUntilLoad(100)).toBe(lossesUntilLoad(1000));
  });
});

describe("after a cut", () => {
  test("losses of what had started before it are no losses of what started after", () => {
    fc.assert(
      fc.property(fc.nat(100), (late) => {
        const strays = setUpCut(200, 10);
        for (let lost = 0; lost < late; lost++) strays.onLoss(false);
        serve(strays, 60);
        strays.onLoss(true);
        expect(strays.judge(false, true)).toBe("stray");
      }),
    );
  });

  test("every loss is load while nothing that started after it was served", () => {
    fc.assert(
      fc.property(fc.nat(30), fc.boolean(), (before, isSlowed) => {
        const strays = setUpCut(200, 10);
        for (let left = before; left > 0; left--) strays.onServed(false);
        expect(strays.isServing).toBe(false);
        strays.onLoss(true);
        expect(strays.judge(false, isSlowed)).toBe("load");
        strays.onServed(true);
        expect(strays.isServing).toBe(true);
      }),
    );
  });

  test("the third loss in a row is load, whatever was served in between", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (served) => {
        const strays = setUpCut(200, 10);
        serve(strays, served);
        const kinds = [1, 2, 3].map(() => {
          strays.onLoss(true);
          return strays.judge(false, true);
        });
        expect(kinds[2]).toBe("load");
      }),
    );
  });

  test("a single loss is load as well if it is one of many in a row, whenever they started", () => {
    const strays = setUpCut(200, 10);
    for (let lost = 0; lost < 5; lost++) strays.onLoss(false);
    strays.onServed(true);
    strays.onLoss(true);
    expect(strays.judge(false, true)).toBe("load");
  });

  test("nothing is judged before fifty have ended, if starts are slowed: it is not known yet", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 20 }), (every) => {
        const strays = setUpCut(11 * every, 12);
        for (let ends = every; ends < 50; ends += every) {
          spread(strays, every - 1, 1);
          expect(strays.judge(false, true)).toBe("stray");
        }
      }),
    );
  });

  test("losses are load at once if starts are not slowed", () => {
    const strays = setUpCut(100, 12);
    spread(strays, 30, 4);
    expect(strays.judge(false, false)).toBe("load");
  });

  test("that left six in ten of the losses or more, slowing down was in vain", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 50 }),
        fc.integer({ min: 30, max: 200 }),
        (before, after) => {
          const strays = setUpCut(20 * (before - 1), 20);
          spread(strays, 12 * (after - 1), 12);
          const mean = 0.01 * 12 * after;
          // Below that it is a stray by itself.
          fc.pre(12 > mean + 2 * Math.sqrt(mean));
          fc.pre(Math.abs(before / after - 0.6) > 0.001);
          const isInVain = before / after > 0.6;
          expect(strays.judge(false, true)).toBe(isInVain ? "in-vain" : "load");
        },
      ),
    );
  });

  test("of more than three in ten is load, whatever slowing down did", () => {
    const strays = setUpCut(60, 40);
    // Lost at the beginning, so that they are no burst any more.
    serve(strays, 1);
    for (let lost = 0; lost < 24; lost++) strays.onLoss(true);
    serve(strays, 50);
    strays.onLoss(true);
    expect(strays.judge(false, true)).toBe("load");
  });
});

describe("losses that slowing down does not lessen", () => {
  test("are put up with, and half as many again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 60 }), (every) => {
        const strays = setUpInVain(every);
        strays.onCut();
        spread(strays, 30 * (Math.ceil(every / 1.5) - 1), 30);
        expect(strays.judge(false, true)).toBe("stray");
        spread(strays, 90 * (Math.ceil(every / 3) - 1), 90);
        expect(strays.judge(false, false)).toBe("load");
      }),
    );
  });

  test("are many if a loss says nothing any more: from two in a hundred on", () => {
    expect(new Strays().areMany).toBe(false);
    expect([10, 30, 70].map((every) => setUpInVain(every).areMany)).toEqual([true, true, true]);
    expect(setUpInVain(80).areMany).toBe(false);
  });

  test("are put up with for a while only, but one in a hundred for ever", () => {
    const strays = setUpInVain(10);
    let windows = 0;
    for (; strays.areMany && windows < 1000; windows++) strays.forget();
    // 15 in a hundred become 2 by 0.995 each time.
    expect(windows).toBe(402);
    for (let left = 1000; left > 0; left--) strays.forget();
    strays.onCut();
    spread(strays, 99 * 20, 20);
    expect(strays.judge(false, false)).toBe("stray");
  });

  test("and then become more are load again: that needs another cut", () => {
    const strays = setUpInVain(20);
    strays.onCut();
    spread(strays, 20 * 6, 30);
    expect(strays.judge(false, true)).toBe("load");
  });
});
