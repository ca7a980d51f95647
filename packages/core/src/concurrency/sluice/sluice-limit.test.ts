import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClosedLoop } from "../../../test/closed-loop.ts";
import type { Answer, Peer } from "../../../test/closed-loop.ts";
import { SeededRandom } from "../../random.ts";
import type { LimitDecision } from "../algorithm.ts";
import type { Outcome } from "../outcome.ts";
import { SluiceLimit } from "./sluice-limit.ts";

const RTT_MS = 100;
const SEEDS = [1, 2, 3, 4, 5, 6, 7];
const seed = fc.integer({ min: 1, max: 1_000_000 });

/** Serves anything in about a round trip, a little more with `jitter`. */
function healthy(random: SeededRandom, jitter = 0.05, rttMs = RTT_MS): () => Answer {
  return () => ({ afterMs: rttMs * (1 - jitter * Math.log(1 - random.next())), outcome: "ok" });
}

function setUp(options: { seed?: number; initialLimit?: number; maxLimit?: number } = {}) {
  const { seed: drawn = 1, ...bounds } = options;
  const random = new SeededRandom(drawn);
  const limit = new SluiceLimit({ random: new SeededRandom(drawn), ...bounds });
  const serve = healthy(random);
  const loop = new ClosedLoop(limit, serve);
  return { limit, loop, random, serve };
}

/** Was at 10 once, lost all from there on, and tries 10 again from time to time. */
function setUpBelowTen(probes: (nowMs: number) => Partial<Answer>) {
  const { limit, loop, serve } = setUp({ initialLimit: 10, maxLimit: 200 });
  loop.peer = (_nowMs, inFlight) => ({ ...serve(), outcome: inFlight < 10 ? "ok" : "busy" });
  expect(loop.runUntil(() => limit.limit === 9 && loop.inFlight <= 9, 10 * RTT_MS)).toBe(true);
  loop.peer = (nowMs, inFlight) => (inFlight < 10 ? serve() : { ...serve(), ...probes(nowMs) });
  return { limit, loop };
}

/** Some served `known` at a time, then `count` started one after the other, none ended yet. */
function setUpStarted(limit: SluiceLimit, count: number, known = 1) {
  let nowMs = 0;
  const end = (outcome: Outcome, startedAtMs: number, inFlightAtStart: number) => {
    nowMs++;
    const atStart = { startedAtMs, inFlightAtStart, weight: 1 };
    return limit.onEnd({ ...atStart, endedAtMs: nowMs, outcome, inFlight: inFlightAtStart - 1 });
  };
  const start = (most: number): number[] => {
    const startedAtMs: number[] = [];
    for (let inFlight = 1; inFlight <= most; inFlight++) {
      nowMs++;
      limit.onStart(nowMs, inFlight);
      startedAtMs.push(nowMs);
    }
    return startedAtMs;
  };
  for (let served = 0; served < 20; served++) {
    const startedAtMs = start(known);
    nowMs += RTT_MS;
    for (const [index, atMs] of startedAtMs.entries()) end("ok", atMs, index + 1);
  }
  return { end, startedAtMs: start(count) };
}

/** All of `startedAtMs`, each with how many were in flight, in an order that numbers decide. */
function inOrder(startedAtMs: readonly number[], numbers: readonly number[]) {
  const left = startedAtMs.map((atMs, index) => ({ atMs, inFlight: index + 1 }));
  return numbers.flatMap((which) => left.splice(which % Math.max(1, left.length), 1));
}

/** Times of 50 ms in the mean that vary widely. */
function varied(random: SeededRandom): () => number {
  return () => -50 * Math.log(1 - random.next());
}

/** So many workers, each busy for some time; whoever finds none waits. */
function workers(count: number, random: SeededRandom, timeMs = varied(random)): Peer {
  const freeAtMs = Array.from({ length: count }, () => 0);
  return (nowMs) => {
    const at = freeAtMs.indexOf(Math.min(...freeAtMs));
    const startMs = Math.max(nowMs, freeAtMs[at] ?? 0);
    freeAtMs[at] = startMs + timeMs();
    return { afterMs: (freeAtMs[at] ?? 0) - nowMs, outcome: "ok" };
  };
}

/** What most seeds show, or more. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Starts a second from one instant to another. */
function startsPerSecond({ starts }: ClosedLoop, fromMs: number, untilMs: number): number {
  const count = starts.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs).length;
  return (count * 1000) / (untilMs - fromMs);
}

function meanInFlight({ starts }: ClosedLoop, fromMs: number): number {
  const later = starts.filter(({ atMs }) => atMs >= fromMs);
  return later.reduce((sum, { inFlight }) => sum + inFlight, 0) / later.length;
}

describe("growth", () => {
  test("does not grow while it is not reached", () => {
    fc.assert(
      fc.property(seed, fc.integer({ min: 2, max: 60 }), (drawn, initialLimit) => {
        const { limit, loop } = setUp({ seed: drawn, initialLimit });
        loop.demand = initialLimit - 1;
        expect(loop.runUntil(() => limit.limit > initialLimit, 5000)).toBe(false);
      }),
      { numRuns: 15 },
    );
  });

  test("reaches what it may within twenty round trips, however much that is", () => {
    for (const maxLimit of [10, 200, 1000]) {
      const { limit, loop } = setUp({ maxLimit });
      const isReached = loop.runUntil(() => limit.limit >= 0.9 * maxLimit, 20 * RTT_MS);
      expect(isReached, `${maxLimit}`).toBe(true);
    }
  });

  test.each([0.01, 0.3, 1])("stays with what is served, with a jitter of %d", (jitter) => {
    const { loop, random } = setUp({ maxLimit: 100 });
    loop.peer = healthy(random, jitter);
    loop.run(5000);
    const from = loop.starts.length;
    loop.run(20_000);
    const most = (100 * 20_000) / (RTT_MS * (1 + jitter));
    expect(loop.starts.length - from).toBeGreaterThan(0.85 * most);
  });
});

describe("losses", () => {
  const outcomes = fc.constantFrom<Outcome>("busy", "failed");
  const orders = fc.array(fc.nat(), { minLength: 10, maxLength: 60 });

  test("two at numbers in flight never tried before may be strays: they leave the limit", () => {
    fc.assert(
      fc.property(orders, outcomes, (order, how) => {
        const limit = new SluiceLimit({ random: new SeededRandom(1), initialLimit: 60 });
        const { end, startedAtMs } = setUpStarted(limit, order.length);
        const [first, second, ...others] = inOrder(startedAtMs, order);
        const lost = [first, second].map((each) => end(how, each?.atMs ?? 0, each?.inFlight ?? 0));
        expect(lost).toEqual([undefined, undefined]);
        const causes = others.map(({ atMs, inFlight }) => end("ok", atMs, inFlight)?.cause);
        expect(causes).not.toContain(how);
        expect(limit.pauseMs(0)).toBe(0);
      }),
    );
  });

  test("more put the limit one below the least of those numbers; late ones only if it was near", () => {
    fc.assert(
      fc.property(orders, outcomes, (order, how) => {
        const limit = new SluiceLimit({ random: new SeededRandom(1), initialLimit: 60 });
        const { end, startedAtMs } = setUpStarted(limit, order.length);
        let least = 61;
        for (const [index, { atMs, inFlight }] of inOrder(startedAtMs, order).entries()) {
          const limitBefore = limit.limit;
          const decision = end(how, atMs, inFlight);
          // A single one in flight was served before: its loss says nothing of a number.
          const isNear = inFlight <= limitBefore && inFlight > 0.75 * limitBefore;
          if (inFlight > 1 && (index < 3 || isNear)) least = Math.min(least, inFlight);
          expect(limit.limit).toBe(index < 2 ? 60 : least - 1);
          const isMoved = limit.limit !== limitBefore;
          const expected = { limit: limit.limit, limitBefore, cause: how };
          if (isMoved) expect(decision).toMatchObject(expected);
          else expect(decision).toBeUndefined();
        }
      }),
    );
  });

  test("never put the limit below what was served before, also not when they come late", () => {
    fc.assert(
      fc.property(orders, fc.integer({ min: 2, max: 30 }), (order, known) => {
        const limit = new SluiceLimit({ random: new SeededRandom(1), initialLimit: 60 });
        const { end, startedAtMs } = setUpStarted(limit, order.length, known);
        const decisions: LimitDecision[] = [];
        for (const { atMs, inFlight } of inOrder(startedAtMs, order)) {
          const decision = end("busy", atMs, inFlight);
          if (decision !== undefined) decisions.push(decision);
          expect(limit.limit).toBeGreaterThanOrEqual(known);
        }
        const [first, ...others] = decisions;
        // Those that had started before the first cut may only say more exactly what it should be.
        if (first?.startsPerSecond !== undefined) expect(others).toEqual([]);
        for (const each of others) expect(each.limit).toBeLessThan(each.limitBefore);
      }),
    );
  });

  test("a stray long ago at a number that was served since does not tell where to cut", () => {
    const { limit, loop, serve } = setUp({ maxLimit: 100 });
    let isFirst = true;
    loop.peer = (_nowMs, inFlight) => {
      if (inFlight !== 5 || !isFirst) return serve();
      isFirst = false;
      return { ...serve(), outcome: "failed" };
    };
    loop.run(60_000);
    expect([isFirst, limit.limit]).toEqual([false, 100]);
    let left = 8;
    loop.peer = () => ({ ...serve(), outcome: left-- > 0 ? "busy" : "ok" });
    const isCut = (): boolean => loop.decisions.at(-1)?.cause === "busy";
    expect(loop.runUntil(isCut, 1000)).toBe(true);
    expect(limit.limit).toBe(100);
  });

  test.each([1000, 10_000, 60_000])(
    "of an attempt that hung for %d ms does not cut below what was served since it started",
    (hungMs) => {
      const { limit, loop, serve } = setUp({ maxLimit: 100 });
      let isFirst = true;
      loop.peer = (_nowMs, inFlight) => {
        if (inFlight !== 3 || !isFirst)
          return { ...serve(), outcome: inFlight > 40 ? "busy" : "ok" };
        isFirst = false;
        return { afterMs: hungMs, outcome: "failed" };
      };
      loop.run(hungMs);
      const isLow = loop.runUntil(() => limit.limit < 20, 5000);
      expect([isFirst, isLow]).toEqual([false, false]);
    },
  );

  test("a stray one among hundreds leaves the limit and the pace alone", () => {
    fc.assert(
      fc.property(seed, fc.integer({ min: 0, max: 300 }), (drawn, strayAfter) => {
        const { limit, loop, serve } = setUp({ seed: drawn, initialLimit: 40, maxLimit: 40 });
        loop.run(2000);
        let left = strayAfter;
        loop.peer = () => ({ ...serve(), outcome: left-- === 0 ? "failed" : "ok" });
        const isMoved = loop.runUntil(() => limit.limit !== 40, 1500);
        expect([isMoved, limit.pauseMs(loop.nowMs), left < 0]).toEqual([false, 0, true]);
        expect(loop.decisions.map((decision) => decision.cause)).not.toContain("failed");
      }),
      { numRuns: 30 },
    );
  });

  test.each([5, 20, 30, 100, 150])(
    "a peer that takes %d and no more turns away few of them",
    (most) => {
      for (let drawn = 1; drawn <= 12; drawn++) {
        const { loop, serve } = setUp({ seed: drawn });
        let refused = 0;
        loop.peer = (_nowMs, inFlight) => {
          if (inFlight > most) refused++;
          return { ...serve(), outcome: inFlight > most ? "busy" : "ok" };
        };
        loop.run(3000);
        refused = 0;
        const from = loop.starts.length;
        loop.run(10_000);
        const later = loop.starts.slice(from);
        const highest = Math.max(...later.map(({ inFlight }) => inFlight));
        expect(highest).toBeLessThanOrEqual(1.1 * most + 2);
        expect(refused / later.length).toBeLessThan(0.02);
        expect(later.length).toBeGreaterThan(0.85 * most * (10_000 / (1.05 * RTT_MS)));
      }
    },
  );

  test("a peer that takes so many a second is paced just below that", () => {
    const { loop, serve } = setUp();
    const quota = 200;
    let arrivedMs: readonly number[] = [];
    let refused = 0;
    loop.peer = (nowMs) => {
      arrivedMs = [...arrivedMs, nowMs].filter((atMs) => atMs > nowMs - 1000);
      if (arrivedMs.length <= quota) return serve();
      refused++;
      return { ...serve(), outcome: "busy" };
    };
    loop.run(20_000);
    refused = 0;
    const starts = loop.starts.length;
    loop.run(20_000);
    const started = loop.starts.length - starts;
    expect((started - refused) / 20).toBeGreaterThan(0.9 * quota);
    expect(refused / started).toBeLessThan(0.05);
    expect(loop.decisions.at(-1)?.startsPerSecond).toBeLessThan(1.1 * quota);
  });
});

describe("a free link that always loses", () => {
  test.each([
    { lostShare: 0.01, least: 0.7, median: 0.85 },
    { lostShare: 0.03, least: 0.5, median: 0.75 },
  ])(
    "$lostShare of all gets $median of what a fixed limit would send, $least at least",
    ({ lostShare, least, median }) => {
      const goodputs = SEEDS.map((drawn) => {
        const { loop, random, serve } = setUp({ seed: drawn, maxLimit: 100 });
        let served = 0;
        loop.peer = () => {
          const isLost = random.next() < lostShare;
          if (!isLost) served++;
          return { ...serve(), outcome: isLost ? "failed" : "ok" };
        };
        loop.run(60_000);
        return served / ((1 - lostShare) * 100 * (60_000 / (1.05 * RTT_MS)));
      });
      expect(Math.min(...goodputs)).toBeGreaterThan(least);
      expect(medianOf(goodputs)).toBeGreaterThan(median);
    },
  );
});

describe("when everything fails", () => {
  const failAfterMs = [5, RTT_MS, 1000];

  test.each(failAfterMs)("after %d ms each, it is down to 1 within four generations", (afterMs) => {
    const { limit, loop } = setUp({ maxLimit: 100 });
    loop.run(5000);
    expect(limit.limit).toBe(100);
    loop.peer = () => ({ afterMs, outcome: "failed" });
    const generationMs = 1.2 * Math.max(afterMs, RTT_MS);
    expect(loop.runUntil(() => limit.limit === 1, 4 * generationMs)).toBe(true);
  });

  test.each(failAfterMs)("after %d ms each, single attempts go on for ever", (afterMs) => {
    const { loop } = setUp({ maxLimit: 100 });
    loop.run(5000);
    loop.peer = () => ({ afterMs, outcome: "failed" });
    loop.run(6000);
    const from = loop.starts.length;
    loop.run(3_600_000);
    const single = loop.starts.slice(from);
    const gapsMs = single.map(({ atMs }, index) => atMs - (single[index - 1]?.atMs ?? atMs));
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(2000 + afterMs + 1);
    expect(Math.max(...single.map(({ inFlight }) => inFlight))).toBe(1);
  });

  test("also from the first attempt on", () => {
    const { limit, loop } = setUp({ initialLimit: 50 });
    loop.peer = () => ({ afterMs: 60_000, outcome: "failed" });
    loop.run(600_000);
    expect(limit.limit).toBe(1);
    expect(loop.nowMs - (loop.starts.at(-1)?.atMs ?? 0)).toBeLessThanOrEqual(62_000);
  });

  test.each([100, 1000, 10_000, 60_000])(
    "for %d ms, half of the limit is back 120 round trips later",
    (outageMs) => {
      for (const afterMs of failAfterMs) {
        const { limit, loop, serve } = setUp({ maxLimit: 100 });
        loop.run(5000);
        loop.peer = () => ({ afterMs, outcome: "failed" });
        loop.run(outageMs);
        loop.peer = serve;
        const isBack = loop.runUntil(() => limit.limit >= 50, 120 * RTT_MS);
        expect(isBack, `after ${afterMs} ms each`).toBe(true);
      }
    },
  );
});

describe("a probe", () => {
  test("is one attempt beyond the limit, which moves only once it was served", () => {
    const probeMs = 10 * RTT_MS;
    const { limit, loop } = setUpBelowTen(() => ({ afterMs: probeMs }));
    expect(limit.limit).toBe(9);
    expect(loop.runUntil(() => loop.inFlight === 10, 100 * RTT_MS)).toBe(true);
    const probedAtMs = loop.starts.at(-1)?.atMs ?? 0;
    const before = loop.starts.length;
    loop.runUntil(() => limit.limit !== 9, 100 * RTT_MS);
    expect(limit.limit).toBe(10);
    expect(loop.decisions.at(-1)).toMatchObject({ cause: "room", atMs: probedAtMs + probeMs });
    expect(loop.starts.slice(before).every(({ inFlight }) => inFlight <= 9)).toBe(true);
  });

  test("that is lost leaves the limit", () => {
    const { limit, loop } = setUpBelowTen(() => ({ outcome: "busy" }));
    expect(loop.runUntil(() => loop.inFlight === 10, 100 * RTT_MS)).toBe(true);
    const before = loop.decisions.length;
    loop.run(2 * RTT_MS);
    expect(limit.limit).toBe(9);
    // One is enough: it is known what it was tried for.
    expect(loop.decisions.slice(before).map(({ cause }) => cause)).toContain("busy");
  });

  test.each<[string, readonly Outcome[]]>([
    ["was given up", ["ignored"]],
    ["was given up many times", Array<Outcome>(20).fill("ignored")],
    ["was given up, and the next a stray loss,", ["ignored", "failed"]],
  ])("that %s does not keep the limit from growing later", (_name, outcomes) => {
    const left = [...outcomes];
    const { limit, loop } = setUpBelowTen(() => ({ outcome: left.shift() ?? "ok" }));
    expect(loop.runUntil(() => limit.limit >= 100, 300 * RTT_MS)).toBe(true);
    expect(left).toEqual([]);
  });
});

describe("waiting", () => {
  test.each([4, 20, 60])("with %d workers it keeps them busy and few in line", (count) => {
    const { loop, random } = setUp();
    loop.peer = workers(count, random);
    loop.run(20_000);
    loop.run(20_000);
    expect(startsPerSecond(loop, 20_000, 40_000)).toBeGreaterThan(0.85 * (count * 20));
    expect(meanInFlight(loop, 20_000)).toBeLessThan(2 * count + 6);
  });

  test("60 workers are found within a second, and kept busy from then on", () => {
    for (const drawn of SEEDS.slice(0, 4)) {
      const { limit, loop, random } = setUp({ seed: drawn });
      loop.peer = workers(60, random);
      expect(loop.runUntil(() => limit.limit >= 54, 1000)).toBe(true);
      loop.run(60_000 - loop.nowMs);
      expect(startsPerSecond(loop, 0, 60_000)).toBeGreaterThan(0.95 * (60 * 20));
      expect(meanInFlight(loop, 10_000)).toBeLessThan(1.3 * 60);
    }
  });

  test.each([
    { count: 1, times: varied },
    { count: 2, times: () => () => 50 },
  ])(
    "with $count, far fewer than the start goes up to, it is drained until few wait",
    ({ count, times }) => {
      const means = SEEDS.map((drawn) => {
        const { loop, random } = setUp({ seed: drawn });
        loop.peer = workers(count, random, times(random));
        loop.run(10_000);
        expect(startsPerSecond(loop, 0, 10_000)).toBeGreaterThan(0.85 * count * 20);
        return meanInFlight(loop, 5000);
      });
      expect(medianOf(means)).toBeLessThan(3.5);
    },
  );

  test.each([0.05, 0.3])(
    "a peer ten times as slow, with a jitter of %d, is known for that after ten seconds",
    (jitter) => {
      for (const drawn of SEEDS) {
        const { limit, loop, random } = setUp({ seed: drawn, maxLimit: 100 });
        loop.peer = healthy(random, jitter, 20);
        loop.run(10_000);
        expect(limit.limit).toBe(100);
        loop.peer = healthy(random, jitter, 200);
        loop.run(22_000);
        const most = (100 * 1000) / (200 * (1 + jitter));
        expect(startsPerSecond(loop, 20_000, 22_000)).toBeGreaterThan(0.9 * most);
        expect(startsPerSecond(loop, 22_000, 32_000)).toBeGreaterThan(0.9 * most);
      }
    },
  );

  test("what was served before a drain is known after it: losses there do not lower the limit", () => {
    for (const drawn of SEEDS) {
      const { limit, loop, random } = setUp({ seed: drawn });
      const work = workers(20, random);
      loop.peer = work;
      loop.run(5000);
      const isAfterDrain = (): boolean => {
        const last = loop.decisions.at(-1);
        return last?.cause === "drain" && last.limit > last.limitBefore + 1;
      };
      expect(loop.runUntil(isAfterDrain, 60_000)).toBe(true);
      const limitBefore = limit.limit;
      let left = 12;
      loop.peer = (nowMs, inFlight) => {
        const isLost = inFlight === limitBefore && left-- > 0;
        return { ...work(nowMs, inFlight, 1), outcome: isLost ? "busy" : "ok" };
      };
      const isCut = (): boolean => loop.decisions.at(-1)?.cause === "busy";
      expect(loop.runUntil(isCut, 10_000)).toBe(true);
      expect(limit.limit).toBe(limitBefore);
      expect(loop.decisions.at(-1)?.startsPerSecond).toBeDefined();
    }
  });

  test("what is faster than the clock can tell does not wait", () => {
    const limit = new SluiceLimit({ random: new SeededRandom(1), initialLimit: 20, maxLimit: 20 });
    for (let nowMs = 0; nowMs < 300; nowMs++) {
      const count = limit.limit;
      for (let inFlight = 1; inFlight <= count; inFlight++) limit.onStart(nowMs, inFlight);
      for (let inFlight = count; inFlight >= 1; inFlight--) {
        const during = { startedAtMs: nowMs, endedAtMs: nowMs, inFlight: inFlight - 1 };
        limit.onEnd({ ...during, outcome: "ok", weight: 1, inFlightAtStart: inFlight });
      }
    }
    expect(limit.limit).toBe(20);
  });
});

test("whatever happened before, a peer that is healthy again gets what it can take", () => {
  const share = fc.constantFrom(0, 0, 0.01, 0.3, 1);
  const time = fc.record({
    ms: fc.constantFrom(50, 300, 2000),
    rttMs: fc.constantFrom(20, RTT_MS, 200),
    jitter: fc.constantFrom(0, 0.05, 1),
    slope: fc.constantFrom(0, 0, 0.1),
    most: fc.constantFrom(3, 20, 1000),
    lostShare: share,
    ignoredShare: share,
    demand: fc.constantFrom(5, 1000),
  });
  fc.assert(
    fc.property(seed, fc.array(time, { minLength: 1, maxLength: 5 }), (drawn, times) => {
      const { limit, loop, random, serve } = setUp({ seed: drawn, maxLimit: 40 });
      for (const each of times) {
        loop.demand = each.demand;
        loop.peer = (_nowMs, inFlight) => {
          const slower = 1 + each.slope * inFlight;
          const noise = 1 - each.jitter * Math.log(1 - random.next());
          const isLost = inFlight > each.most || random.next() < each.lostShare;
          const isIgnored = random.next() < each.ignoredShare;
          const outcome = isIgnored ? "ignored" : isLost ? "busy" : "ok";
          return { afterMs: each.rttMs * slower * noise, outcome };
        };
        loop.run(each.ms);
      }
      loop.peer = serve;
      loop.demand = 1000;
      const isWell = (): boolean => limit.limit >= 30 && loop.inFlight >= 30;
      expect(loop.runUntil(isWell, 90_000)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test.each([{ maxLimit: 0 }, { initialLimit: 0 }, { initialLimit: 201 }, { maxLimit: 1.5 }])(
  "refuses %j",
  (bounds) => {
    expect(() => new SluiceLimit({ random: new SeededRandom(1), ...bounds })).toThrow(/must be/);
  },
);
