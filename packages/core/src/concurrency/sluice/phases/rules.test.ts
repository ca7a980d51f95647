import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../../random.ts";
import type { EndedAttempt } from "../../algorithm.ts";
import { baselineOf } from "../waiting/baseline.ts";
import { judgeCruise } from "./cruise.ts";
import { judgeDrain } from "./drain.ts";
import { isReady, queueOf } from "../waiting/evidence.ts";
import type { Evidence } from "../waiting/evidence.ts";
import { FREE_GROWTH } from "./growth.ts";
import {
  cleared,
  correctCut,
  endOutage,
  judgeLoss,
  probesPerSecondOf,
  refuted,
  suspected,
} from "../losses/loss.ts";
import { endStall, lostInOutage, stall, stallAfterMs } from "../losses/stall.ts";
import { isProbe, onProbeEnd, onProbeStart } from "./probe.ts";
import { RttWindow } from "../waiting/rtt-window.ts";
import { ALONE, isTaken, isYieldDue, moved, refusedAt, shared, yieldPart } from "./sharing.ts";
import { growStart, judgeStart } from "./start.ts";
import { limitOf, samplesMaxOf } from "../state.ts";
import type { DrainPhase, OutagePhase, Probe, State } from "../state.ts";

const NOW_MS = 100_000;
const RTT_MS = 100;
const BASELINE = baselineOf(Array<number>(400).fill(RTT_MS), NOW_MS - 1000);
const settings = () => ({ maxLimit: 200, random: new SeededRandom(1), servedPerSecond: 0 });

/** A cruise at `limit` that was never cut. */
function stateOf(limit: number, change: Partial<State> = {}): State {
  return {
    limit,
    phase: { name: "cruise", probe: undefined },
    baseline: BASELINE,
    growth: FREE_GROWTH,
    cut: { atMs: Number.NEGATIVE_INFINITY, inARow: 0, isExplained: false, before: undefined },
    sharing: ALONE,
    suspect: undefined,
    ...change,
  };
}

/** A full window at a limit of 100 attempts that was reached, without a queue and without error. */
function seenWith(change: Partial<Evidence> = {}): Evidence {
  return {
    nowMs: NOW_MS,
    rttsMs: Array<number>(200).fill(RTT_MS),
    meanMs: RTT_MS,
    weight: 1,
    shift: { valueMs: 0, errorMs: 0 },
    queued: 0,
    error: 0,
    baseline: BASELINE,
    attempts: 100,
    isReached: true,
    isFull: true,
    ...change,
  };
}

const cruise = (seen: Partial<Evidence>, state = stateOf(100), probe?: Probe) =>
  judgeCruise(state, probe, seenWith(seen), settings());

test("by Little's law as large a part is queued as of the round trip is waiting", () => {
  expect(queueOf(40, 100, { valueMs: 25, errorMs: 5 })).toEqual({ queued: 10, error: 2 });
  expect(queueOf(40, 0, { valueMs: 0, errorMs: 0 })).toEqual({ queued: 0, error: 0 });
});

test.each([
  { name: "start", limit: 1, weight: 1, count: 1 },
  { name: "start", limit: 5, weight: 1, count: 5 },
  { name: "start", limit: 30, weight: 1, count: 8 },
  { name: "start", limit: 100, weight: 1, count: 25 },
  { name: "start", limit: 100, weight: 5, count: 8 },
  { name: "cruise", limit: 1, weight: 1, count: 16 },
  { name: "cruise", limit: 40, weight: 1, count: 40 },
  { name: "cruise", limit: 400, weight: 10, count: 40 },
  { name: "cruise", limit: 4096, weight: 1, count: 512 },
] as const)("a $name at $limit, with weights of $weight, is judged by $count", (given) => {
  const { name, limit, weight, count } = given;
  const phase = name === "start" ? { name } : { name, probe: undefined };
  const window = new RttWindow();
  window.restart(0, false);
  while (!isReady(window, stateOf(limit, { phase })))
    window.add({ rttMs: RTT_MS, typicalMs: RTT_MS, weight }, 1, true);
  expect(window.count).toBe(count);
});

test("more round trips are kept for a larger limit, from 128 to 512", () => {
  expect([1, 42, 100, 1000].map(samplesMaxOf)).toEqual([128, 128, 300, 512]);
});

const start = stateOf(20, { phase: { name: "start" } });

/** Samples of the baseline after a window of one round trip. */
function samplesAfter(queued: number, before: number): number | undefined {
  const baseline = baselineOf(Array<number>(before).fill(RTT_MS), 0);
  const seen = seenWith({ queued, error: 0.1, baseline, rttsMs: [RTT_MS] });
  return judgeStart(start, seen, 200).state.baseline?.rttsMs.length;
}

describe("slow start", () => {
  test("grows by 0.6 of the weight served, up to the largest limit", () => {
    expect([growStart(start, 5, 200).limit, growStart(start, 5, 21).limit]).toEqual([23, 21]);
  });

  test("ends with a queue that is surely longer than half the root of the limit", () => {
    const judge = (queued: number, error: number) =>
      judgeStart(start, seenWith({ attempts: 20, queued, error }), 200).state.phase.name;
    expect([judge(2, 0), judge(2.3, 0), judge(2.3, 0.1)]).toEqual(["start", "drain", "start"]);
    const small = seenWith({ attempts: 2, queued: 1.1 });
    expect(judgeStart(start, small, 200).state.phase.name).toBe("drain");
    const smaller = seenWith({ attempts: 2, queued: 0.9 });
    expect(judgeStart(start, smaller, 200).state.phase.name).toBe("start");
  });

  test("drains to a third, and keeps what was tried as known", () => {
    const ruling = judgeStart(start, seenWith({ attempts: 20, queued: 9 }), 200);
    expect(ruling).toMatchObject({ cause: "slower", window: "settle", isCut: true, triedUpTo: 20 });
    expect(ruling.state.limit).toBeCloseTo(20 / 3, 9);
  });

  test("adds windows without a queue to a baseline of fewer than 64 round trips", () => {
    expect([samplesAfter(0, 63), samplesAfter(0, 64), samplesAfter(0.5, 63)]).toEqual([64, 64, 63]);
  });

  test("becomes a cruise at the largest limit", () => {
    expect(judgeStart(start, seenWith(), 20).state.phase.name).toBe("cruise");
  });
});

describe("cruise", () => {
  test.each([
    { queued: 0, cause: "probe" },
    { queued: 2.9, cause: "probe" },
    { queued: 3.1, cause: "steady" },
    { queued: 5, cause: "steady" },
    { queued: 5.1, cause: "slower", limit: 99 },
    { queued: 15, cause: "slower", limit: 99 },
    { queued: 15.1, cause: "slower", limit: 0.8 * 84.9 },
  ])("with $queued of 100 queued: $cause", ({ queued, cause, limit = 100 }) => {
    const ruling = cruise({ queued });
    expect(ruling?.cause).toBe(cause);
    expect(ruling?.state.limit).toBeCloseTo(limit, 9);
  });

  test.each([
    { attempts: 4, error: 0, room: 0.6, short: 1, long: 4 },
    { attempts: 4, error: 0.5, room: 1, short: 2.5, long: 5 },
    { attempts: 4, error: 2, room: 1.5, short: 6, long: 8 },
    { attempts: 100, error: 8, room: 6, short: 21, long: 31 },
  ])(
    "$attempts in flight, error $error: probes below $room, leaves up to $short, drains above $long",
    ({ attempts, error, room, short, long }) => {
      const judge = (queued: number) => {
        const ruling = cruise({ attempts, error, queued }, stateOf(attempts));
        return [ruling?.cause, ruling?.state.phase.name];
      };
      expect(judge(room - 0.01)).toEqual(["probe", "cruise"]);
      expect(judge(room + 0.01)).toEqual(["steady", "cruise"]);
      expect(judge(short - 0.01)).toEqual(["steady", "cruise"]);
      expect(judge(short + 0.01)).toEqual(["slower", "cruise"]);
      expect(judge(long - 0.01)).toEqual(["slower", "cruise"]);
      expect(judge(long + 0.01)).toEqual(["slower", "drain"]);
    },
  );

  test("scales with the mean weight: 500 of weight 5 are judged as 100 of weight 1", () => {
    const heavy = stateOf(500);
    const limits = [0, 5.1, 15.1].map((queued) => {
      const ruling = cruise({ queued, weight: 5 }, heavy);
      return ruling === undefined ? undefined : [ruling.cause, ruling.state.limit];
    });
    expect(limits).toEqual([
      ["probe", 500],
      ["slower", 495],
      ["slower", 0.8 * (500 - 15.1 * 5)],
    ]);
    const probing = judgeCruise(heavy, undefined, seenWith({ weight: 5 }), {
      ...settings(),
      maxLimit: 1000,
    });
    expect(probing === undefined ? 0 : limitOf(probing.state)).toBe(510);
  });

  test.each([
    { servedPerSecond: 4_000, queued: 9, weight: 1, to: 8 },
    { servedPerSecond: 4_000, queued: 9, weight: 0.5, to: 5.5 },
    { servedPerSecond: 4_000, queued: 2, weight: 1, to: 8 },
    { servedPerSecond: 40_000, queued: 9, weight: 1, to: 10 },
    { servedPerSecond: 100, queued: 9, weight: 1, to: 1 },
  ])(
    "waiting for $queued of 10 lowers the limit to $to: what $servedPerSecond a second of weight $weight need in 2 ms",
    ({ servedPerSecond, queued, weight, to }) => {
      const seen = seenWith({ attempts: 10, queued, weight });
      const fast = { ...settings(), servedPerSecond };
      let { state }: { state: State } = { state: stateOf(10) };
      for (let window = 0; window < 3; window++) {
        const ruling = judgeCruise(state, undefined, seen, fast);
        if (ruling?.state.phase.name === "drain") {
          expect(ruling.state.phase.resumeLimit).toBeCloseTo(to, 9);
          return;
        }
        state = ruling?.state ?? state;
      }
      expect(state.limit).toBe(to);
    },
  );

  test("an uncertain window waits for more round trips, unless it is full", () => {
    const unclear = { queued: 9, error: 3 };
    expect(cruise({ ...unclear, isFull: false })).toBeUndefined();
    expect(cruise(unclear)?.cause).toBe("steady");
  });

  test("a queue must be surer to be drained before the window is full", () => {
    expect(cruise({ queued: 20, error: 2 })?.state.phase.name).toBe("drain");
    expect(cruise({ queued: 20, error: 1.7, isFull: false })).toBeUndefined();
    expect(cruise({ queued: 20, error: 1.6, isFull: false })?.state.phase.name).toBe("drain");
  });

  test("near the edge an uncertain window waits where it would probe elsewhere", () => {
    const unclear = { queued: 2, error: 3, isFull: false };
    expect(cruise(unclear)?.cause).toBe("probe");
    const edge = { limit: 100, untilMs: NOW_MS + 1 };
    const near = stateOf(100, { growth: { ...FREE_GROWTH, edge } });
    expect(cruise(unclear, near)).toBeUndefined();
  });

  test("a limit that was not reached is left", () => {
    expect(cruise({ isReached: false })?.cause).toBe("idle");
    expect(cruise({ isReached: false, queued: 6 })?.state.limit).toBe(100);
  });

  test("a window that is judged ends a row of cuts and ages the losses", () => {
    const cut = { atMs: 0, inARow: 3, isExplained: true, before: undefined };
    const ruling = cruise({}, stateOf(100, { cut }));
    expect([ruling?.state.cut.inARow, ruling?.isWell]).toEqual([0, true]);
  });

  test.each([
    { ageMs: 9999, samples: 300, name: "cruise" },
    { ageMs: 10_000, samples: 300, name: "drain" },
    { ageMs: 4999, samples: 150, name: "cruise" },
    { ageMs: 5000, samples: 150, name: "drain" },
  ])(
    "beside a queue, a baseline of $samples samples and $ageMs ms: $name",
    ({ ageMs, samples, name }) => {
      const baseline = baselineOf(Array<number>(samples).fill(RTT_MS), NOW_MS - ageMs);
      const ruling = cruise({ queued: 4, baseline });
      expect(ruling?.state.phase.name).toBe(name);
      expect(ruling?.state.limit).toBe(name === "drain" ? 50 : 100);
      expect(cruise({ baseline })?.cause).toBe("probe");
    },
  );

  test("growth is held for about four round trips beside a queue", () => {
    const heldMs = (cruise({ queued: 4 })?.state.growth.heldUntilMs ?? 0) - NOW_MS;
    expect([heldMs >= 300, heldMs <= 500]).toEqual([true, true]);
    const held = stateOf(100, { growth: { ...FREE_GROWTH, heldUntilMs: NOW_MS + 1 } });
    expect(cruise({}, held)?.cause).toBe("steady");
  });

  test("a probe that has not ended is replaced after thirty round trips", () => {
    const causes = [NOW_MS - 3000, NOW_MS - 3001].map(
      (sinceMs) =>
        cruise({}, stateOf(100), {
          step: 1,
          left: 0,
          out: 1,
          lost: 0,
          isYield: false,
          sinceMs,
          lastStartMs: sinceMs,
        })?.cause,
    );
    expect(causes).toEqual(["steady", "probe"]);
  });
});

const rtts = (count: number, rttMs: number) => Array<number>(count).fill(rttMs);
const judgeDrained = (phase: DrainPhase, seen: Partial<Evidence>, limit = 48) =>
  judgeDrain(stateOf(limit, { phase }), phase, seenWith(seen));

describe("a drain", () => {
  const drain = { name: "drain", limitBefore: 100, resumeLimit: 60 } as const;

  test("lasts until enough round trips are measured, or they hardly differ", () => {
    const phase: DrainPhase = { ...drain, reason: "queue" };
    const spread = { shift: { valueMs: 0, errorMs: 3 }, isFull: false };
    expect(judgeDrained(phase, { ...spread, rttsMs: rtts(59, RTT_MS) })).toBeUndefined();
    expect(judgeDrained(phase, { ...spread, rttsMs: rtts(60, RTT_MS) })).toBeDefined();
    const sure = { shift: { valueMs: 0, errorMs: 2 }, isFull: false };
    expect(judgeDrained(phase, { ...sure, rttsMs: rtts(16, RTT_MS) })).toBeDefined();
    const small: DrainPhase = { ...phase, resumeLimit: 10 };
    expect(judgeDrained(small, { ...spread, rttsMs: rtts(47, RTT_MS) })).toBeUndefined();
    expect(judgeDrained(small, { ...spread, rttsMs: rtts(48, RTT_MS) })).toBeDefined();
  });

  test("of a queue resumes below it, and adds to the baseline", () => {
    const ruling = judgeDrained({ ...drain, reason: "queue" }, { rttsMs: rtts(50, 90) });
    expect(ruling).toMatchObject({ cause: "drain", window: "settle", state: { limit: 60 } });
    expect(ruling?.state.baseline?.low.valueMs).toBe(RTT_MS);
  });

  test("that leaves round trips as long finds a slower peer: half of the limit is back", () => {
    const phase: DrainPhase = { ...drain, reason: "queue", resumeLimit: 20 };
    const edge = { limit: 20, untilMs: NOW_MS + 1000 };
    const growth = { heldUntilMs: NOW_MS + 1000, edge, streak: 0 };
    const seen = seenWith({ rttsMs: rtts(50, 160), meanMs: 160 });
    const ruling = judgeDrain(stateOf(16, { phase, growth }), phase, seen);
    expect(ruling?.state).toMatchObject({ limit: 50, growth: FREE_GROWTH });
    expect(ruling?.state.baseline?.low.valueMs).toBe(160);
  });

  test.each([
    { queued: 2.9, rttMs: 100 },
    { queued: 3.1, rttMs: 110 },
    { queued: -3.1, rttMs: 110 },
  ])(
    "for the baseline replaces it if it differs by three standard errors: $queued",
    ({ queued, rttMs }) => {
      const phase: DrainPhase = { ...drain, reason: "baseline", resumeLimit: 100 };
      const ruling = judgeDrained(phase, { queued, error: 1, rttsMs: rtts(50, 110) });
      expect(ruling?.state.limit).toBe(100);
      expect(ruling?.state.baseline).toMatchObject({
        low: { valueMs: rttMs },
        measuredAtMs: NOW_MS,
      });
    },
  );

  const ended = (startRttMs: number): DrainPhase => ({
    ...drain,
    reason: "start",
    resumeLimit: 100,
    startRttsMs: rtts(50, startRttMs),
  });

  test("after the start goes on with the start if there was no queue", () => {
    const ruling = judgeDrained(ended(110), { rttsMs: rtts(50, 110) }, 33);
    expect(ruling?.state).toMatchObject({ phase: { name: "start" }, limit: 100 });
  });

  test("after the start resumes below the queue that ended it", () => {
    const ruling = judgeDrained(ended(150), { rttsMs: rtts(50, 100) }, 33);
    expect(ruling?.state.phase.name).toBe("cruise");
    // 100 × (1 − 100 ÷ 150) queued, less one standard error.
    expect(ruling?.state.limit).toBeGreaterThan(66);
    expect(ruling?.state.limit).toBeLessThan(69);
  });

  test("after the start goes deeper while the peer is still slow", () => {
    const ruling = judgeDrained(ended(600), { rttsMs: rtts(50, 300) }, 33);
    expect(ruling?.state).toMatchObject({ limit: 11, phase: { name: "drain" } });
    expect(judgeDrained(ended(600), { rttsMs: rtts(50, 300) }, 1.5)?.state.phase.name).not.toBe(
      "drain",
    );
  });
});

describe("a loss by load", () => {
  const loss = {
    nowMs: NOW_MS,
    cause: "busy",
    isProbe: false,
    isSilent: false,
    rttMs: RTT_MS,
    maxLimit: 200,
    servedPerSecond: 1000,
  } as const;
  const judge = (state: State, mostBelow?: number, acceptedPerSecond?: number) =>
    judgeLoss(state, { ...loss, mostBelow, acceptedPerSecond }, new SeededRandom(1));

  test("at a number never served puts the limit one below it", () => {
    const { ruling, slowdown } = judge(stateOf(100), 49, 500);
    expect(ruling).toMatchObject({ cause: "busy", triedUpTo: 49, isCut: true });
    expect(ruling.state).toMatchObject({ limit: 49, cut: { inARow: 1, isExplained: true } });
    expect(slowdown).toBeUndefined();
  });

  test("at another number paces starts, and leaves the limit", () => {
    const { ruling, slowdown } = judge(stateOf(100), undefined, 500);
    expect(ruling.state).toMatchObject({ limit: 100, cut: { isExplained: false } });
    expect(slowdown).toEqual({ kind: "pace", coolDownMs: 100, perSecond: 500 });
  });

  test("holds growth for about twenty round trips", () => {
    const heldMs = judge(stateOf(100), 49).ruling.state.growth.heldUntilMs - NOW_MS;
    expect([heldMs >= 1500, heldMs <= 2500]).toEqual([true, true]);
  });

  test.each([
    { servedPerSecond: 1000, least: 10, most: 12 },
    { servedPerSecond: 16, least: 8, most: 8 },
    { servedPerSecond: 0, least: 5, most: 5 },
    { servedPerSecond: Infinity, least: 10, most: 12 },
  ])(
    "while nothing is served leaves probes, at most half of $servedPerSecond or of one at a time",
    ({ servedPerSecond, least, most }) => {
      const none = { mostBelow: undefined, acceptedPerSecond: undefined, servedPerSecond };
      const { ruling, slowdown } = judgeLoss(
        stateOf(100),
        { ...loss, ...none },
        new SeededRandom(1),
      );
      expect(ruling.state).toMatchObject({ limit: 12, phase: { name: "outage", resumeLimit: 70 } });
      const perSecond = slowdown?.perSecond ?? 0;
      expect([slowdown?.kind, perSecond >= least, perSecond <= most]).toEqual([
        "probes",
        true,
        true,
      ]);
    },
  );

  test("leaves a peer of 2 s round trips one probe a second", () => {
    expect(probesPerSecondOf(0.5, 2000, new SeededRandom(1))).toBe(1);
  });

  test("the first probe that is served ends an outage, and earlier ones no longer count", () => {
    const state = stateOf(20, { phase: { name: "outage", resumeLimit: 70 } });
    expect(endOutage(state, 70, NOW_MS).state).toMatchObject({
      limit: 70,
      phase: { name: "cruise" },
      cut: { atMs: NOW_MS },
    });
    const never = { ...state, baseline: undefined };
    expect(endOutage(never, 70, NOW_MS).state.phase.name).toBe("start");
  });

  test("without an answer takes a quarter of a shared limit, with an answer nothing", () => {
    const state = shared(stateOf(100), NOW_MS);
    const silent = { ...loss, mostBelow: undefined, acceptedPerSecond: 500, isSilent: true };
    const taken = judgeLoss(state, silent, new SeededRandom(1));
    expect([taken.ruling.state.limit, taken.slowdown]).toEqual([75, undefined]);
    expect(judge(state, undefined, 500).ruling.state.limit).toBe(100);
  });
});

describe("a limit that others may use too", () => {
  test("is yielded in part every eight seconds or so, unless it is known to be shared", () => {
    const ruling = yieldPart(stateOf(50), NOW_MS, new SeededRandom(1));
    expect(ruling.state).toMatchObject({ limit: 37, phase: { reason: "yield", resumeLimit: 50 } });
    expect(isYieldDue(stateOf(50), NOW_MS)).toBe(true);
    expect(isYieldDue(ruling.state, NOW_MS + 5000)).toBe(false);
    expect(isYieldDue(ruling.state, NOW_MS + 11_000)).toBe(true);
    expect(isYieldDue(shared(stateOf(50), NOW_MS), NOW_MS + 11_000)).toBe(false);
  });

  test("is shared if what was yielded is not free afterwards", () => {
    const times = { sinceMs: 0, lastStartMs: 0 };
    const probe: Probe = { step: 13, left: 0, out: 0, lost: 0, isYield: true, ...times };
    expect(isTaken(probe)).toBe(false);
    expect(isTaken({ ...probe, lost: 1 })).toBe(true);
    expect(isTaken({ ...probe, lost: 1, isYield: false })).toBe(false);
  });

  test("is shared if a number that was refused is served later, twice", () => {
    const once = moved(refusedAt(stateOf(50), 51), 51, NOW_MS);
    expect(once.sharing.sharedUntilMs).toBe(0);
    expect(moved(refusedAt(once, 52), 51, NOW_MS).sharing.sharedUntilMs).toBe(0);
    expect(moved(refusedAt(once, 52), 52, NOW_MS).sharing.sharedUntilMs).toBeGreaterThan(NOW_MS);
  });
});

const outageOf = ({ phase }: State): OutagePhase => phase as OutagePhase;

describe("silence with a full limit", () => {
  test.each([
    { rttMs: 100, attempts: 50, silenceMs: 300 },
    { rttMs: 100, attempts: 2, silenceMs: 500 },
    { rttMs: 100, attempts: 1, silenceMs: 1000 },
    { rttMs: 1, attempts: 50, silenceMs: 200 },
  ])(
    "of $silenceMs ms is an outage for $attempts attempts of $rttMs ms",
    ({ rttMs, attempts, silenceMs }) => {
      expect(stallAfterMs(rttMs, attempts)).toBe(silenceMs);
    },
  );

  test.each([
    { limit: 50, maxLimit: 200, probing: 62 },
    { limit: 3, maxLimit: 200, probing: 6 },
    { limit: 50, maxLimit: 55, probing: 55 },
  ])(
    "adds probes to a limit of $limit, up to $probing of at most $maxLimit",
    ({ limit, maxLimit, probing }) => {
      const { state } = stall(stateOf(limit), limit, NOW_MS, maxLimit);
      expect(state).toMatchObject({ limit: probing, cut: { atMs: NOW_MS } });
      expect(state.phase).toMatchObject({ name: "outage", resumeLimit: limit });
    },
  );

  const silent = stall(stateOf(50), 50, NOW_MS, 200).state;

  test("that ends before an attempt is lost changes nothing", () => {
    const { state } = endStall(silent, outageOf(silent), NOW_MS + 400);
    expect([state.limit, state.phase]).toEqual([50, stateOf(50).phase]);
    expect(state.cut.atMs).toBe(NOW_MS + 400);
  });

  test("is an outage from the first loss on, and what hung takes its part of the limit along", () => {
    let state = lostInOutage(silent, outageOf(silent), 1);
    expect([state.limit, state.phase]).toEqual([61, { name: "outage", resumeLimit: 35 }]);
    for (let hung = 1; hung < 100; hung++) state = lostInOutage(state, outageOf(state), 1);
    expect([state.limit, state.phase]).toEqual([12, { name: "outage", resumeLimit: 35 }]);
  });
});

describe("the attempts of a probe", () => {
  const times = { sinceMs: 0, lastStartMs: 0 };
  const probe: Probe = { step: 2, left: 2, out: 0, lost: 0, isYield: false, ...times };
  const begun = stateOf(10, { phase: { name: "cruise", probe } });
  const first = onProbeStart(begun, { nowMs: 1, inFlight: 11, weight: 1 });
  const both = onProbeStart(first, { nowMs: 2, inFlight: 12, weight: 1 });

  test.each([
    { startedAtMs: 1, inFlightAtStart: 11, isOwn: true },
    { startedAtMs: 2, inFlightAtStart: 12, isOwn: true },
    { startedAtMs: 3, inFlightAtStart: 12, isOwn: false },
    { startedAtMs: 2, inFlightAtStart: 10, isOwn: false },
  ])(
    "are those that started beyond the limit and none that replaces them: $startedAtMs, $inFlightAtStart",
    ({ isOwn, ...attempt }) => {
      expect(isProbe(both, attempt)).toBe(isOwn);
    },
  );

  test("are all waited for if they take back a yield: a silent loss comes last", () => {
    const ends = { endedAtMs: NOW_MS, weight: 1 };
    const many: Probe = { ...probe, step: 8, left: 0, out: 3, lastStartMs: 2 };
    const end = (isYield: boolean) =>
      onProbeEnd(
        stateOf(10, { phase: { name: "cruise", probe: { ...many, isYield } } }),
        ends,
        true,
        { ...settings(), rttMs: RTT_MS },
      ).cause;
    expect([end(false), end(true)]).toEqual(["room", undefined]);
  });
});

/** A lost attempt. */
const lost = (inFlightAtStart: number, startedAtMs = 0): EndedAttempt => ({
  startedAtMs,
  endedAtMs: startedAtMs + RTT_MS,
  outcome: "busy",
  weight: 1,
  inFlightAtStart,
  inFlight: 0,
});

describe("a loss at a number never tried", () => {
  test("is suspected to be one above the limit; the lowest counts, and a single one never", () => {
    const first = suspected(stateOf(60), lost(50));
    const lower = suspected(suspected(first, lost(40)), lost(45));
    expect([first.suspect?.limit, lower.suspect?.limit]).toEqual([49, 39]);
    expect(suspected(stateOf(60), lost(1)).suspect).toBeUndefined();
  });

  test("is random if far more are served at once", () => {
    const state = suspected(stateOf(60), lost(41));
    expect(refuted(state, 50).suspect?.limit).toBe(40);
    expect(refuted(state, 51).suspect).toBeUndefined();
  });

  test("is random if a later attempt is served with as many", () => {
    const state = suspected(stateOf(60), lost(50));
    expect(cleared(state, lost(60, 100)).suspect).toBeDefined();
    expect(cleared(state, lost(49, 101)).suspect).toBeDefined();
    expect(cleared(state, lost(50, 101)).suspect).toBeUndefined();
  });

  test.each([
    { inFlight: 40, isFirst: true, isExplained: true, limit: 39 },
    { inFlight: 31, isFirst: true, isExplained: true, limit: 30 },
    { inFlight: 30, isFirst: true, isExplained: true, limit: undefined },
    { inFlight: 41, isFirst: true, isExplained: true, limit: undefined },
    { inFlight: 35, isFirst: false, isExplained: true, limit: undefined },
    { inFlight: 35, isFirst: true, isExplained: false, limit: undefined },
  ])(
    "that started before a cut to 40, with $inFlight in flight, corrects it to $limit",
    ({ inFlight, isFirst, isExplained, limit }) => {
      const state = stateOf(40, {
        cut: { atMs: NOW_MS, inARow: 1, isExplained, before: undefined },
      });
      expect(correctCut(state, lost(inFlight), "busy", isFirst)?.state.limit).toBe(limit);
    },
  );
});
