import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../test/closed-loop.ts";
import {
  healthy,
  meanInFlight,
  medianOf,
  RTT_MS,
  setUpSluice,
  startsPerSecond,
  varied,
  workers,
} from "../../../test/sluice-scene.ts";
import { SeededRandom } from "../../random.ts";
import type { LimitDecision } from "../algorithm.ts";
import type { Outcome } from "../outcome.ts";
import { OUTAGE_PROBE_MIN_PER_SECOND, OUTAGE_PROBES } from "./constants.ts";
import { SluiceLimit } from "./sluice-limit.ts";

const SEEDS = [1, 2, 3];
const seed = fc.integer({ min: 1, max: 1_000_000 });

/** A limit of 9 whose probes of a tenth attempt are answered by `probes`. */
function setUpBelowTen(probes: (nowMs: number) => Partial<Answer>) {
  const { limit, loop, serve } = setUpSluice({ initialLimit: 10, maxLimit: 200 });
  loop.peer = (_nowMs, inFlight) => ({ ...serve(), outcome: inFlight < 10 ? "ok" : "busy" });
  expect(loop.runUntil(() => limit.limit === 9 && loop.inFlight <= 9, 10 * RTT_MS)).toBe(true);
  loop.peer = (nowMs, inFlight) => (inFlight < 10 ? serve() : { ...serve(), ...probes(nowMs) });
  return { limit, loop };
}

/** A limit that has served `known` at a time; then `count` attempts start and none has ended yet. */
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
      limit.onStart(nowMs, inFlight, 1);
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

/** All attempts that started, with the number in flight of each, in an order drawn from `numbers`. */
function inOrder(startedAtMs: readonly number[], numbers: readonly number[]) {
  const left = startedAtMs.map((atMs, index) => ({ atMs, inFlight: index + 1 }));
  return numbers.flatMap((which) => left.splice(which % Math.max(1, left.length), 1));
}

describe("growth", () => {
  test("the limit does not grow while it is not reached", () => {
    fc.assert(
      fc.property(seed, fc.integer({ min: 2, max: 60 }), (drawn, initialLimit) => {
        const { limit, loop } = setUpSluice({ seed: drawn, initialLimit });
        loop.demand = initialLimit - 1;
        expect(loop.runUntil(() => limit.limit > initialLimit, 3000)).toBe(false);
      }),
      { numRuns: 8 },
    );
  });

  test("the largest limit is reached within twenty round trips, whatever it is", () => {
    for (const maxLimit of [10, 200, 1000]) {
      const { limit, loop } = setUpSluice({ maxLimit });
      const isReached = loop.runUntil(() => limit.limit >= 0.9 * maxLimit, 20 * RTT_MS);
      expect(isReached, `${maxLimit}`).toBe(true);
    }
  });

  test.each([0.01, 0.3, 1])("a limit that is served is kept, with a jitter of %d", (jitter) => {
    const { loop, random } = setUpSluice({ maxLimit: 50 });
    loop.peer = healthy(random, jitter);
    loop.run(3000);
    const from = loop.starts.length;
    loop.run(10_000);
    const most = (50 * 10_000) / (RTT_MS * (1 + jitter));
    expect(loop.starts.length - from).toBeGreaterThan(0.85 * most);
  });
});

describe("losses", () => {
  const outcomes = fc.constantFrom<Outcome>("busy", "failed");
  const orders = fc.array(fc.nat(), { minLength: 10, maxLength: 60 });

  test("two at numbers in flight never tried before may be random: they leave the limit", () => {
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

  test("more put the limit one below the lowest of those numbers; late ones only if they are near", () => {
    fc.assert(
      fc.property(orders, outcomes, (order, how) => {
        const limit = new SluiceLimit({ random: new SeededRandom(1), initialLimit: 60 });
        const { end, startedAtMs } = setUpStarted(limit, order.length);
        let least = 61;
        for (const [index, { atMs, inFlight }] of inOrder(startedAtMs, order).entries()) {
          const limitBefore = limit.limit;
          const decision = end(how, atMs, inFlight);
          // The loss of a single attempt says nothing about a number in flight.
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

  test("the limit never goes below what was served before, also if losses come late", () => {
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
        // Losses of attempts that started before the first cut may only correct it downwards.
        if (first?.startsPerSecond !== undefined) expect(others).toEqual([]);
        for (const each of others) expect(each.limit).toBeLessThan(each.limitBefore);
      }),
    );
  });

  test("a random loss at a number that was served since does not tell where to cut", () => {
    const { limit, loop, serve } = setUpSluice({ maxLimit: 30 });
    let isFirst = true;
    loop.peer = (_nowMs, inFlight) => {
      if (inFlight !== 5 || !isFirst) return serve();
      isFirst = false;
      return { ...serve(), outcome: "failed" };
    };
    loop.run(20_000);
    expect([isFirst, limit.limit]).toEqual([false, 30]);
    let left = 8;
    loop.peer = () => ({ ...serve(), outcome: left-- > 0 ? "busy" : "ok" });
    const isCut = (): boolean => loop.decisions.at(-1)?.cause === "busy";
    expect(loop.runUntil(isCut, 1000)).toBe(true);
    expect(limit.limit).toBe(30);
  });

  test.each([1000, 10_000])(
    "the loss of an attempt that hung for %d ms does not cut below what was served since it started",
    (hungMs) => {
      const { limit, loop, serve } = setUpSluice({ maxLimit: 100 });
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

  test("one random loss among hundreds changes neither the limit nor the pace", () => {
    fc.assert(
      fc.property(seed, fc.integer({ min: 0, max: 300 }), (drawn, lostAfter) => {
        const { limit, loop, serve } = setUpSluice({ seed: drawn, initialLimit: 40, maxLimit: 40 });
        loop.run(2000);
        let left = lostAfter;
        loop.peer = () => ({ ...serve(), outcome: left-- === 0 ? "failed" : "ok" });
        const isMoved = loop.runUntil(() => limit.limit !== 40, 1500);
        expect([isMoved, limit.pauseMs(loop.nowMs), left < 0]).toEqual([false, 0, true]);
        expect(loop.decisions.map((decision) => decision.cause)).not.toContain("failed");
      }),
      { numRuns: 10 },
    );
  });

  test.each([5, 30, 100])("a peer that takes %d and no more refuses few of them", (most) => {
    for (const drawn of SEEDS) {
      const { loop, serve } = setUpSluice({ seed: drawn });
      let refused = 0;
      loop.peer = (_nowMs, inFlight) => {
        if (inFlight > most) refused++;
        return { ...serve(), outcome: inFlight > most ? "busy" : "ok" };
      };
      loop.run(3000);
      refused = 0;
      const from = loop.starts.length;
      loop.run(6000);
      const later = loop.starts.slice(from);
      const highest = Math.max(...later.map(({ inFlight }) => inFlight));
      expect(highest).toBeLessThanOrEqual(1.1 * most + 2);
      expect(refused / later.length).toBeLessThan(0.02);
      expect(later.length).toBeGreaterThan(0.85 * most * (6000 / (1.05 * RTT_MS)));
    }
  });

  test("the cool-down after a cut is a mean round trip, to which one slow answer adds a tenth", () => {
    const limit = new SluiceLimit({ initialLimit: 10, maxLimit: 10 });
    const { startedAtMs } = setUpStarted(limit, 5, 5);
    const slowMs = startedAtMs[0] ?? 0;
    const nowMs = slowMs + 11 * RTT_MS;
    const served = { weight: 1, inFlightAtStart: 1, inFlight: 4, outcome: "ok" } as const;
    limit.onEnd({ ...served, startedAtMs: slowMs, endedAtMs: nowMs });
    let pauseMs = 0;
    for (const [index, atMs] of startedAtMs.entries()) {
      if (index === 0) continue;
      const attempt = { ...served, startedAtMs: atMs, endedAtMs: nowMs, inFlightAtStart: index };
      limit.onEnd({ ...attempt, outcome: "busy" });
      pauseMs ||= limit.pauseMs(nowMs);
    }
    expect(pauseMs).toBeGreaterThan(1.7 * RTT_MS);
    expect(pauseMs).toBeLessThan(2.3 * RTT_MS);
  });

  test("a peer that takes 200 a second is paced just below that", () => {
    const { loop, serve } = setUpSluice();
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

describe("when everything fails", () => {
  const failAfterMs = [5, RTT_MS, 1000];

  test.each(failAfterMs)(
    "after %d ms each, only probes start within four generations of attempts",
    (afterMs) => {
      const { limit, loop } = setUpSluice({ maxLimit: 100 });
      loop.run(5000);
      expect(limit.limit).toBe(100);
      loop.peer = () => ({ afterMs, outcome: "failed" });
      const generationMs = 1.2 * Math.max(afterMs, RTT_MS);
      expect(loop.runUntil(() => limit.limit === OUTAGE_PROBES, 4 * generationMs)).toBe(true);
      const fromMs = loop.nowMs;
      loop.run(10_000);
      expect(startsPerSecond(loop, fromMs, loop.nowMs)).toBeLessThan(
        2.2 * OUTAGE_PROBE_MIN_PER_SECOND,
      );
    },
  );

  test.each(failAfterMs)("after %d ms each, a probe starts every 100 ms for ever", (afterMs) => {
    const { loop } = setUpSluice({ maxLimit: 100 });
    loop.run(5000);
    loop.peer = () => ({ afterMs, outcome: "failed" });
    loop.run(6000);
    const from = loop.starts.length;
    loop.run(600_000);
    const probes = loop.starts.slice(from);
    const gapsMs = probes.map(({ atMs }, index) => atMs - (probes[index - 1]?.atMs ?? atMs));
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(101);
    expect(Math.max(...probes.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(OUTAGE_PROBES);
  });

  test("probes are bounded by the highest limit and by what hangs", () => {
    const { limit, loop } = setUpSluice({ initialLimit: 5, maxLimit: 5 });
    loop.peer = () => ({ afterMs: 60_000, outcome: "failed" });
    loop.run(600_000);
    expect(limit.limit).toBeLessThanOrEqual(5);
    expect(Math.max(...loop.starts.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(5);
    expect(loop.nowMs - (loop.starts.at(-1)?.atMs ?? 0)).toBeLessThanOrEqual(62_000);
  });

  test.each([20, 100])(
    "a peer that was slow, at %d round trips a second, gets few probes",
    (rate) => {
      const { loop, random } = setUpSluice({ maxLimit: 1 });
      loop.peer = healthy(random, 0.05, 1000 / rate);
      loop.run(5000);
      loop.peer = () => ({ afterMs: 1, outcome: "failed" });
      loop.run(5000);
      const fromMs = loop.nowMs;
      loop.run(20_000);
      expect(startsPerSecond(loop, fromMs, loop.nowMs)).toBeLessThanOrEqual(
        Math.min(rate / 2, 2 * OUTAGE_PROBE_MIN_PER_SECOND) + 1,
      );
    },
  );

  test.each([100, 1000, 10_000, 60_000])(
    "for %d ms, half of the limit is back 120 round trips later",
    (outageMs) => {
      for (const afterMs of failAfterMs) {
        const { limit, loop, serve } = setUpSluice({ maxLimit: 100 });
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

/** A limit of about 50; nothing is answered from then on. */
function setUpSilent(timeoutMs: number) {
  const { limit, loop, serve } = setUpSluice({ seed: 2, maxLimit: 200 });
  const known = (_nowMs: number, inFlight: number): Answer => ({
    ...serve(),
    outcome: inFlight <= 50 ? "ok" : "busy",
  });
  loop.peer = known;
  loop.run(10_000);
  loop.peer = () => ({ afterMs: timeoutMs, outcome: "failed" });
  return { limit, loop, known };
}

describe("a peer that falls silent", () => {
  test.each([1000, 60_000])(
    "for longer than three round trips gets a probe every 100 ms, with a timeout of %d ms",
    (timeoutMs) => {
      const { loop } = setUpSilent(timeoutMs);
      const silentAtMs = loop.nowMs;
      loop.run(1400);
      const atMs = loop.starts.map((start) => start.atMs).filter((at) => at > silentAtMs + 200);
      const gapsMs = atMs.map((at, index) => at - (atMs[index - 1] ?? silentAtMs + 300));
      expect(Math.max(...gapsMs.slice(1))).toBeLessThanOrEqual(101);
      expect(gapsMs[0]).toBeLessThanOrEqual(250);
      expect(atMs.length).toBeLessThanOrEqual(15);
    },
  );

  test("and answers after all has its old limit, without a loss", () => {
    const { limit, loop, known } = setUpSilent(6 * RTT_MS);
    const before = limit.limit;
    loop.peer = () => ({ afterMs: 6 * RTT_MS, outcome: "ok" });
    expect(loop.runUntil(() => limit.limit > before + 5, 6 * RTT_MS)).toBe(true);
    loop.peer = known;
    const isOver = (): boolean => limit.pauseMs(loop.nowMs) === 0 && limit.limit <= before;
    expect(loop.runUntil(isOver, 6 * RTT_MS)).toBe(true);
    expect(loop.decisions.at(-1)).toMatchObject({ cause: "room", limit: before });
  });
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
    // One loss is enough for a probe.
    expect(loop.decisions.slice(before).map(({ cause }) => cause)).toContain("busy");
  });

  test.each<[string, readonly Outcome[]]>([
    ["was given up", ["ignored"]],
    ["was given up many times", Array<Outcome>(20).fill("ignored")],
    ["was given up, and the next a random loss,", ["ignored", "failed"]],
  ])("that %s does not keep the limit from growing later", (_name, outcomes) => {
    const left = [...outcomes];
    const { limit, loop } = setUpBelowTen(() => ({ outcome: left.shift() ?? "ok" }));
    expect(loop.runUntil(() => limit.limit >= 100, 300 * RTT_MS)).toBe(true);
    expect(left).toEqual([]);
  });
});

describe("a probe that never ends", () => {
  test("does not stop the limit from growing", () => {
    let isHung = false;
    const { limit, loop } = setUpBelowTen(() => {
      const afterMs = isHung ? RTT_MS : 3_600_000;
      isHung = true;
      return { afterMs };
    });
    expect(loop.runUntil(() => limit.limit >= 50, 300 * RTT_MS)).toBe(true);
    expect(isHung).toBe(true);
  });
});

/** Draws one of the weights for each attempt. */
const weigher = (random: SeededRandom, weights: readonly number[]) => () =>
  weights[Math.floor(random.next() * weights.length)] ?? 1;

describe("weights", () => {
  const mixes = [[1], [2], [3], [5], [1, 2, 3, 5]];
  test.each(mixes.map((weights) => ({ weights })))(
    "of $weights use a peer that takes 60 in all, and few are refused",
    ({ weights }) => {
      const { loop, random, serve } = setUpSluice();
      loop.weigh = weigher(random, weights);
      loop.peer = (_nowMs, inFlight) => ({ ...serve(), outcome: inFlight > 60 ? "busy" : "ok" });
      loop.run(3000);
      const [servedBefore, startsBefore] = [loop.served, loop.starts.length];
      loop.run(10_000);
      const most = (60 * 10_000) / (1.05 * RTT_MS);
      expect(loop.served - servedBefore).toBeGreaterThan(0.8 * most);
      const later = loop.starts.slice(startsBefore);
      expect(later.filter(({ inFlight }) => inFlight > 60).length / later.length).toBeLessThan(
        0.03,
      );
    },
  );

  // Numbers in flight have gaps, so the first cut often stays above the peer's limit.
  test.each([60, 150])("from 1 to 10, mixed, use a peer that takes %d in all", (most) => {
    const used = [1, 2, 3, 4, 5, 6].map((drawn) => {
      const { loop, random, serve } = setUpSluice({ seed: drawn });
      loop.weigh = weigher(random, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      loop.peer = (_nowMs, inFlight) => ({ ...serve(), outcome: inFlight > most ? "busy" : "ok" });
      loop.run(20_000);
      return loop.served / ((most * 20_000) / (1.05 * RTT_MS));
    });
    expect(Math.min(...used)).toBeGreaterThan(0.8);
  });

  test.each([2, 5])("of %d keep 12 workers busy and the queue short", (weight) => {
    const { loop, random } = setUpSluice();
    loop.weigh = () => weight;
    loop.peer = workers(12, random);
    loop.run(20_000);
    expect(startsPerSecond(loop, 10_000, 20_000)).toBeGreaterThan(0.85 * 12 * 20);
    expect(meanInFlight(loop, 10_000) / weight).toBeLessThan(2 * 12 + 6);
  });
});

describe("waiting", () => {
  test.each([4, 20, 60])("with %d workers it keeps them busy and the queue short", (count) => {
    const { loop, random } = setUpSluice();
    loop.peer = workers(count, random);
    loop.run(20_000);
    expect(startsPerSecond(loop, 10_000, 20_000)).toBeGreaterThan(0.85 * (count * 20));
    expect(meanInFlight(loop, 10_000)).toBeLessThan(2 * count + 6);
  });

  test.each([
    { count: 1, times: varied },
    { count: 2, times: () => () => 50 },
  ])(
    "with $count, far fewer than the start goes up to, the queue is drained",
    ({ count, times }) => {
      const means = SEEDS.map((drawn) => {
        const { loop, random } = setUpSluice({ seed: drawn });
        loop.peer = workers(count, random, times(random));
        loop.run(10_000);
        expect(startsPerSecond(loop, 0, 10_000)).toBeGreaterThan(0.85 * count * 20);
        return meanInFlight(loop, 5000);
      });
      expect(medianOf(means)).toBeLessThan(3.5);
    },
  );

  test("a peer ten times as slow is known for that after ten seconds", () => {
    const { limit, loop, random } = setUpSluice({ maxLimit: 40 });
    loop.peer = healthy(random, 0.05, 20);
    loop.run(3000);
    expect(limit.limit).toBe(40);
    loop.peer = healthy(random, 0.05, 200);
    loop.run(13_000);
    const most = (40 * 1000) / (200 * 1.05);
    expect(startsPerSecond(loop, 13_000, 16_000)).toBeGreaterThan(0.9 * most);
  });

  test("losses at a limit that was served before a drain do not lower the limit", () => {
    for (const drawn of SEEDS) {
      const { limit, loop, random } = setUpSluice({ seed: drawn });
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

  test("round trips below the resolution of the clock show no queue", () => {
    const limit = new SluiceLimit({ random: new SeededRandom(1), initialLimit: 20, maxLimit: 20 });
    for (let nowMs = 0; nowMs < 300; nowMs++) {
      const count = limit.limit;
      for (let inFlight = 1; inFlight <= count; inFlight++) limit.onStart(nowMs, inFlight, 1);
      for (let inFlight = count; inFlight >= 1; inFlight--) {
        const during = { startedAtMs: nowMs, endedAtMs: nowMs, inFlight: inFlight - 1 };
        limit.onEnd({ ...during, outcome: "ok", weight: 1, inFlightAtStart: inFlight });
      }
    }
    expect(limit.limit).toBe(20);
  });
});

test("whatever happened before, a healthy peer gets what it can take", () => {
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
      const { limit, loop, random, serve } = setUpSluice({ seed: drawn, maxLimit: 40 });
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
    { numRuns: 80 },
  );
});

test.each([{ maxLimit: 0 }, { initialLimit: 0 }, { initialLimit: 201 }, { maxLimit: 1.5 }])(
  "refuses %j",
  (bounds) => {
    expect(() => new SluiceLimit({ random: new SeededRandom(1), ...bounds })).toThrow(/must be/);
  },
);
