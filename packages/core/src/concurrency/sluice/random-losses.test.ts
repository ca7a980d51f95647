import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RandomLosses } from "./random-losses.ts";

/** Counts served ends and losses, spread evenly so that no burst is in them; a loss comes last. */
function spread(random: RandomLosses, served: number, losses: number): void {
  for (let lost = 1; lost <= losses; lost++) {
    const before = Math.floor((served * (lost - 1)) / losses);
    serve(random, Math.floor((served * lost) / losses) - before);
    random.onLoss(true);
  }
}

function serve(random: RandomLosses, count: number): void {
  for (let left = count; left > 0; left--) random.onServed(true);
}

/** Losses that went with so many served ends when a cut was made for them. */
function setUpCut(served: number, losses: number): RandomLosses {
  const random = new RandomLosses();
  spread(random, served, losses);
  expect(random.judge(true, false)).toBe("load");
  random.onCut();
  return random;
}

/** One in `every` was lost before a cut and after it: slowing down was in vain. */
function setUpInVain(every: number): RandomLosses {
  const random = setUpCut(150 * (every - 1), 150);
  spread(random, 150 * (every - 1), 150);
  expect(random.judge(false, true)).toBe("in-vain");
  return random;
}

/** How many losses, one in eleven, it takes after so many windows without any. */
function lossesUntilLoad(windows: number): number {
  const random = new RandomLosses();
  for (let left = windows; left > 0; left--) {
    serve(random, 100);
    random.age();
  }
  for (let lost = 1; ; lost++) {
    serve(random, 10);
    random.onLoss(true);
    if (random.judge(true, false) === "load") return lost;
  }
}

describe("before a cut", () => {
  test("two losses are random, however little has ended and whenever they come", () => {
    const orders = fc.array(fc.boolean(), { maxLength: 20 });
    fc.assert(
      fc.property(orders, fc.boolean(), (order, isSlowed) => {
        const random = new RandomLosses();
        let left = 2;
        for (const isLost of order) {
          if (!isLost || left === 0) {
            random.onServed(true);
            continue;
          }
          left--;
          random.onLoss(true);
          expect(random.judge(true, isSlowed)).toBe("random");
        }
      }),
    );
  });

  test("one in a hundred is random, however many that are", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (losses) => {
        const random = new RandomLosses();
        spread(random, 99 * losses, losses);
        expect(random.judge(true, false)).toBe("random");
      }),
    );
  });

  test("losses beyond one in a hundred and two standard deviations are load", () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.integer({ min: 3, max: 100 }), (served, losses) => {
        const random = new RandomLosses();
        spread(random, served, losses);
        const mean = 0.01 * (served + losses);
        const most = mean + 2 * Math.sqrt(mean);
        // In a burst chance explains nothing.
        const isKnown = losses > most || served > 20 * losses;
        fc.pre(isKnown);
        expect(random.judge(true, false)).toBe(losses > Math.max(2, most) ? "load" : "random");
      }),
    );
  });

  test("losses one after the other are load where the same number spread out is random", () => {
    const [even, atOnce] = [new RandomLosses(), new RandomLosses()];
    spread(even, 300, 5);
    serve(atOnce, 300);
    for (let lost = 0; lost < 5; lost++) atOnce.onLoss(true);
    expect([even.judge(true, false), atOnce.judge(true, false)]).toEqual(["random", "load"]);
  });

  test("the last 200 attempts excuse losses, however many windows they were served in", () => {
    const random = new RandomLosses();
    for (let window = 0; window < 19; window++) {
      serve(random, 10);
      random.age();
    }
    spread(random, 6, 3);
    expect(random.judge(true, false)).toBe("random");
  });

  test("attempts served long ago do not excuse losses", () => {
    // Of ten thousand, one in a hundred would be a hundred.
    expect(lossesUntilLoad(100)).toBeLessThan(10);
    expect(lossesUntilLoad(100)).toBe(lossesUntilLoad(1000));
  });
});

describe("after a cut", () => {
  test("losses of attempts that started before it do not count for those after", () => {
    fc.assert(
      fc.property(fc.nat(100), (late) => {
        const random = setUpCut(200, 10);
        for (let lost = 0; lost < late; lost++) random.onLoss(false);
        serve(random, 60);
        random.onLoss(true);
        expect(random.judge(false, true)).toBe("random");
      }),
    );
  });

  test("every loss is load while nothing that started after it was served", () => {
    fc.assert(
      fc.property(fc.nat(30), fc.boolean(), (before, isSlowed) => {
        const random = setUpCut(200, 10);
        for (let left = before; left > 0; left--) random.onServed(false);
        expect(random.isServing).toBe(false);
        random.onLoss(true);
        expect(random.judge(false, isSlowed)).toBe("load");
        random.onServed(true);
        expect(random.isServing).toBe(true);
      }),
    );
  });

  test("the third loss in a row is load, whatever was served in between", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (served) => {
        const random = setUpCut(200, 10);
        serve(random, served);
        const kinds = [1, 2, 3].map(() => {
          random.onLoss(true);
          return random.judge(false, true);
        });
        expect(kinds[2]).toBe("load");
      }),
    );
  });

  test("a single loss is load if many came before it in a row, whenever they started", () => {
    const random = setUpCut(200, 10);
    for (let lost = 0; lost < 5; lost++) random.onLoss(false);
    random.onServed(true);
    random.onLoss(true);
    expect(random.judge(false, true)).toBe("load");
  });

  test("with slower starts, nothing is load before fifty have ended", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 20 }), (every) => {
        const random = setUpCut(11 * every, 12);
        for (let ends = every; ends < 50; ends += every) {
          spread(random, every - 1, 1);
          expect(random.judge(false, true)).toBe("random");
        }
      }),
    );
  });

  test("losses are load at once if starts are not slowed", () => {
    const random = setUpCut(100, 12);
    spread(random, 30, 4);
    expect(random.judge(false, false)).toBe("load");
  });

  test("that left six in ten of the losses or more, slowing down was in vain", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 50 }),
        fc.integer({ min: 30, max: 200 }),
        (before, after) => {
          const random = setUpCut(20 * (before - 1), 20);
          spread(random, 12 * (after - 1), 12);
          const mean = 0.01 * 12 * after;
          // Fewer are random by themselves.
          fc.pre(12 > mean + 2 * Math.sqrt(mean));
          fc.pre(Math.abs(before / after - 0.6) > 0.001);
          const isInVain = before / after > 0.6;
          expect(random.judge(false, true)).toBe(isInVain ? "in-vain" : "load");
        },
      ),
    );
  });

  test("more than three losses in ten are load, whatever slowing down did", () => {
    const random = setUpCut(60, 40);
    // Lost at the beginning, so that they are no burst any more.
    serve(random, 1);
    for (let lost = 0; lost < 24; lost++) random.onLoss(true);
    serve(random, 50);
    random.onLoss(true);
    expect(random.judge(false, true)).toBe("load");
  });
});

describe("losses that slowing down does not lessen", () => {
  test("are tolerated, and half as many again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 60 }), (every) => {
        const random = setUpInVain(every);
        random.onCut();
        spread(random, 30 * (Math.ceil(every / 1.5) - 1), 30);
        expect(random.judge(false, true)).toBe("random");
        spread(random, 90 * (Math.ceil(every / 3) - 1), 90);
        expect(random.judge(false, false)).toBe("load");
      }),
    );
  });

  test("are many from two in a hundred on: a single loss then says nothing", () => {
    expect(new RandomLosses().areMany).toBe(false);
    expect([10, 30, 70].map((every) => setUpInVain(every).areMany)).toEqual([true, true, true]);
    expect(setUpInVain(80).areMany).toBe(false);
  });

  test("are tolerated for a while only, but one in a hundred always", () => {
    const random = setUpInVain(10);
    let windows = 0;
    for (; random.areMany && windows < 1000; windows++) random.age();
    // 15 in a hundred become 2 by 0.995 each time.
    expect(windows).toBe(402);
    for (let left = 1000; left > 0; left--) random.age();
    random.onCut();
    spread(random, 99 * 20, 20);
    expect(random.judge(false, false)).toBe("random");
  });

  test("are load again when they become more", () => {
    const random = setUpInVain(20);
    random.onCut();
    spread(random, 20 * 6, 30);
    expect(random.judge(false, true)).toBe("load");
  });
});
