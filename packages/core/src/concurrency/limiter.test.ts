import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VirtualClock } from "../testing.ts";
import type { LimitAlgorithm, LimitDecision, Sample } from "./algorithm.ts";
import { ConcurrencyLimiter } from "./limiter.ts";
import type { Permit } from "./permit.ts";

/** An algorithm that does what it is told and remembers what it saw. */
class Told implements LimitAlgorithm {
  limit = 1;
  next: number | undefined;
  paceMs = 0;
  readonly samples: Sample[] = [];
  readonly starts: [number, number][] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  pauseMs(): number {
    return this.paceMs;
  }

  onStart(nowMs: number, inFlight: number): void {
    this.starts.push([nowMs, inFlight]);
  }

  onEnd(sample: Sample): LimitDecision | undefined {
    this.samples.push(sample);
    if (this.next === undefined) return undefined;
    const limitBefore = this.limit;
    this.limit = this.next;
    this.next = undefined;
    return { limit: this.limit, limitBefore, cause: "room", rttMs: 1, startsPerSecond: undefined };
  }
}

function setUp(limit: number, door?: (weight: number, nowMs: number) => boolean) {
  const clock = new VirtualClock();
  const algorithm = new Told(limit);
  const decisions: LimitDecision[] = [];
  const limiter = new ConcurrencyLimiter(clock, algorithm, {
    maxWaiting: 10,
    onDecision: (decision) => decisions.push(decision),
    ...(door === undefined ? {} : { door }),
  });
  const given: Permit[] = [];
  const wait = (weight = 1): void => {
    limiter.wait({ weight, priority: 0, onPermit: (permit) => given.push(permit) });
  };
  return { clock, algorithm, limiter, decisions, given, wait };
}

test("tells the algorithm what starts, and what became of it, with the instants of one clock", () => {
  const { clock, algorithm, limiter } = setUp(5);
  const first = limiter.tryAcquire();
  clock.advance(5);
  const second = limiter.tryAcquire(2);
  clock.advance(5);
  first?.end("busy");
  clock.advance(5);
  second?.end("ok");
  expect(algorithm.starts).toEqual([
    [0, 1],
    [5, 3],
  ]);
  expect(algorithm.samples).toEqual([
    { startedAtMs: 0, endedAtMs: 10, outcome: "busy", inFlightAtStart: 1, inFlight: 2 },
    { startedAtMs: 5, endedAtMs: 15, outcome: "ok", inFlightAtStart: 3, inFlight: 0 },
  ]);
});

test("a raised limit lets the waiting in, in the step in which it was raised", () => {
  const { algorithm, limiter, given, wait, decisions } = setUp(1);
  const permit = limiter.tryAcquire();
  for (let i = 0; i < 3; i++) wait();
  algorithm.next = 3;
  permit?.end("ok");
  expect(given).toHaveLength(3);
  expect(decisions).toMatchObject([{ limit: 3, limitBefore: 1 }]);
});

describe("an attempt that is measured before its end", () => {
  test("counts once, and its permit comes back at the end", () => {
    const { clock, algorithm, limiter, given, wait } = setUp(1);
    const permit = limiter.tryAcquire();
    wait();
    clock.advance(10);
    permit?.measure("ok");
    expect(limiter.inFlight).toBe(1);
    expect(given).toHaveLength(0);
    clock.advance(90);
    permit?.end("failed");
    expect(given).toHaveLength(1);
    expect(algorithm.samples).toEqual([
      { startedAtMs: 0, endedAtMs: 10, outcome: "ok", inFlightAtStart: 1, inFlight: 0 },
    ]);
  });

  test("can raise the limit for the waiting", () => {
    const { algorithm, limiter, given, wait } = setUp(1);
    const permit = limiter.tryAcquire();
    wait();
    algorithm.next = 2;
    permit?.measure("ok");
    expect(given).toHaveLength(1);
    expect(limiter.inFlight).toBe(2);
  });
});

test("lets nothing start while the algorithm paces", () => {
  const { algorithm, limiter, given, wait } = setUp(5);
  algorithm.paceMs = 20;
  expect(limiter.tryAcquire()).toBeUndefined();
  expect(limiter.pauseMs()).toBe(20);
  wait();
  algorithm.paceMs = 0;
  limiter.handOver();
  expect(given).toHaveLength(1);
});

test("asks the door only when there is room, with the instant of the call", () => {
  const asked: [number, number][] = [];
  const { clock, limiter } = setUp(3, (weight, nowMs) => {
    asked.push([weight, nowMs]);
    return true;
  });
  clock.advance(7);
  limiter.tryAcquire(2);
  expect(limiter.tryAcquire(2)).toBeUndefined();
  expect(asked).toEqual([[2, 7]]);
});

test("a forced permit is over the limit, and counts like any other", () => {
  const { algorithm, limiter, given, wait } = setUp(1);
  const [first, forced] = [limiter.tryAcquire(), limiter.forceAcquire()];
  expect(limiter.inFlight).toBe(2);
  wait();
  first?.end("ok");
  expect(given).toHaveLength(0);
  forced.end("ok");
  expect(given).toHaveLength(1);
  expect(algorithm.samples).toHaveLength(2);
});

test("announces every attempt once at its start and once at its end, in any order of events", () => {
  const steps = fc.array(
    fc.oneof(
      fc.constant({ kind: "come" as const }),
      fc.record({ kind: fc.constantFrom("end", "measure"), which: fc.nat(20) }),
      fc.record({ kind: fc.constant("limit" as const), to: fc.integer({ min: 1, max: 5 }) }),
    ),
  );
  fc.assert(
    fc.property(steps, (all) => {
      const { algorithm, limiter, given } = setUp(2);
      for (const step of all) {
        if (step.kind === "come") {
          const permit = limiter.tryAcquire();
          if (permit !== undefined) given.push(permit);
          else limiter.wait({ weight: 1, priority: 0, onPermit: (late) => given.push(late) });
        } else if (step.kind === "limit") algorithm.next = "to" in step ? step.to : undefined;
        else {
          const permit = given[("which" in step ? step.which : 0) % Math.max(1, given.length)];
          if (step.kind === "end") permit?.end("ok");
          else permit?.measure("ok");
        }
      }
      expect(algorithm.starts).toHaveLength(given.length);
      const out = given.filter((permit) => !permit.hasEnded);
      expect(limiter.inFlight).toBe(out.length);
      for (const permit of given) permit.end("ok");
      for (const permit of given) permit.end("ok");
      expect(algorithm.samples).toHaveLength(given.length);
    }),
  );
});
