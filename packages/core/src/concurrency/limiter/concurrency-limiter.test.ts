import fc from "fast-check";
import { systemTimer } from "../../system.ts";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../random.ts";
import { VirtualClock } from "../../testing.ts";
import type { LimitAlgorithm, LimitDecision, EndedAttempt } from "../algorithm.ts";
import { FixedLimit } from "../fixed/fixed-limit.ts";
import { SluiceLimit } from "../sluice/sluice-limit.ts";
import { ConcurrencyLimiter } from "./concurrency-limiter.ts";
import type { ConcurrencyLimiterOptions } from "./concurrency-limiter.ts";
import type { Permit } from "./permit.ts";

/** An algorithm whose limit and pause are set by the test. */
class Told implements LimitAlgorithm {
  blocked = 0;
  limit = 1;
  next: number | undefined;
  paceMs = 0;
  /** When silence raises the limit by one. */
  probeAtMs: number | undefined;
  readonly samples: EndedAttempt[] = [];
  readonly starts: [number, number][] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  pauseMs(): number {
    return this.paceMs;
  }

  stallMs(nowMs: number): number | undefined {
    return this.probeAtMs === undefined ? undefined : Math.max(0, this.probeAtMs - nowMs);
  }

  onTime(nowMs: number): LimitDecision | undefined {
    if (this.probeAtMs === undefined || nowMs < this.probeAtMs) return undefined;
    this.probeAtMs = undefined;
    const limitBefore = this.limit++;
    return { limit: this.limit, limitBefore, cause: "probe", rttMs: 1, startsPerSecond: undefined };
  }

  onStart(nowMs: number, inFlight: number): void {
    this.starts.push([nowMs, inFlight]);
  }

  onBlocked(): void {
    this.blocked++;
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    this.samples.push(sample);
    if (this.next === undefined) return undefined;
    const limitBefore = this.limit;
    this.limit = this.next;
    this.next = undefined;
    return { limit: this.limit, limitBefore, cause: "room", rttMs: 1, startsPerSecond: undefined };
  }
}

function setUp(limit: number, options: ConcurrencyLimiterOptions = {}) {
  const clock = new VirtualClock();
  const algorithm = new Told(limit);
  const decisions: LimitDecision[] = [];
  const limiter = new ConcurrencyLimiter(algorithm, {
    clock,
    maxWaiting: 10,
    onDecision: (decision) => decisions.push(decision),
    ...options,
  });
  const given: Permit[] = [];
  const wait = (weight = 1): void => {
    limiter.wait({ weight, priority: 0, onPermit: (permit) => given.push(permit) });
  };
  return { clock, algorithm, limiter, decisions, given, wait };
}

test("the algorithm learns what starts and how it ends, with the instants of one clock", () => {
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
    { startedAtMs: 0, endedAtMs: 10, outcome: "busy", weight: 1, inFlightAtStart: 1, inFlight: 2 },
    { startedAtMs: 5, endedAtMs: 15, outcome: "ok", weight: 2, inFlightAtStart: 3, inFlight: 0 },
  ]);
});

test("a raised limit admits waiters in the step in which it was raised", () => {
  const { algorithm, limiter, given, wait, decisions } = setUp(1);
  const permit = limiter.tryAcquire();
  for (let i = 0; i < 3; i++) wait();
  algorithm.next = 3;
  permit?.end("ok");
  expect(given).toHaveLength(3);
  expect(decisions).toMatchObject([{ limit: 3, limitBefore: 1 }]);
});

test("a limit that silence raises admits a waiter at the time that was told, and is reported", () => {
  const { clock, algorithm, limiter, given, wait, decisions } = setUp(1);
  limiter.tryAcquire();
  wait();
  expect(limiter.stallMs()).toBeUndefined();
  algorithm.probeAtMs = 300;
  clock.advance(100);
  expect(limiter.stallMs()).toBe(200);
  limiter.handOver();
  expect(given).toHaveLength(0);
  clock.advance(200);
  limiter.handOver();
  expect(given).toHaveLength(1);
  expect(decisions).toMatchObject([{ limit: 2, limitBefore: 1, cause: "probe" }]);
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
      { startedAtMs: 0, endedAtMs: 10, outcome: "ok", weight: 1, inFlightAtStart: 1, inFlight: 0 },
    ]);
  });

  test("can raise the limit for waiters", () => {
    const { algorithm, limiter, given, wait } = setUp(1);
    const permit = limiter.tryAcquire();
    wait();
    algorithm.next = 2;
    permit?.measure("ok");
    expect(given).toHaveLength(1);
    expect(limiter.inFlight).toBe(2);
  });
});

test("nothing starts while the algorithm pauses", () => {
  const { algorithm, limiter, given, wait } = setUp(5);
  algorithm.paceMs = 20;
  expect(limiter.tryAcquire()).toBeUndefined();
  expect(limiter.pauseMs()).toBe(20);
  wait();
  algorithm.paceMs = 0;
  limiter.handOver();
  expect(given).toHaveLength(1);
});

test("the pause after a refusal is never 0: the pace's, or not known while no permit is free", () => {
  const { algorithm, limiter, wait } = setUp(2);
  expect([limiter.pauseMs(), limiter.pauseMs(5)]).toEqual([0, 0]);
  const permit = limiter.tryAcquire();
  expect([limiter.pauseMs(1), limiter.pauseMs(2)]).toEqual([0, undefined]);
  wait(2);
  expect([limiter.tryAcquire(), limiter.pauseMs()]).toEqual([undefined, undefined]);
  algorithm.paceMs = 20;
  expect([limiter.tryAcquire(), limiter.pauseMs()]).toEqual([undefined, 20]);
  algorithm.paceMs = 0;
  permit?.end("ok");
  const conditional = setUp(2, { admit: () => false }).limiter;
  expect([conditional.tryAcquire(), conditional.pauseMs()]).toEqual([undefined, undefined]);
});

test("a priority that cannot be compared is refused and changes no order", () => {
  const { limiter, wait } = setUp(1);
  const permit = limiter.tryAcquire();
  wait();
  expect(() => limiter.tryAcquire(1, Number.NaN)).toThrow("priority is NaN; use a finite number");
  expect(limiter.waiting).toBe(1);
  permit?.end("ok");
});

test("a further condition is asked only when there is room, with the instant of the call", () => {
  const asked: [number, number][] = [];
  const admit = (weight: number, nowMs: number): boolean => {
    asked.push([weight, nowMs]);
    return true;
  };
  const { clock, limiter } = setUp(3, { admit });
  clock.advance(7);
  limiter.tryAcquire(2);
  expect(limiter.tryAcquire(2)).toBeUndefined();
  expect(asked).toEqual([[2, 7]]);
});

test("a forced permit may exceed the limit, and counts like any other", () => {
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

test("every attempt is reported once at its start and once at its end, in any order of events", () => {
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

test("a waiter on an idle limiter gets its permit at once", () => {
  const { clock, limiter, given, wait } = setUp(1, { maxWaiting: 0 });
  clock.advance(7);
  wait();
  expect(given).toMatchObject([{ startedAtMs: 7, inFlightAtStart: 1 }]);
  expect(limiter.waiting).toBe(0);
});

test("a fixed limit can be changed while permits are out and waiters wait", () => {
  const limit = new FixedLimit(1);
  const limiter = new ConcurrencyLimiter(limit, { clock: new VirtualClock(), maxWaiting: 10 });
  const given: Permit[] = [];
  for (let i = 0; i < 4; i++)
    limiter.wait({ weight: 1, priority: 0, onPermit: (permit) => given.push(permit) });
  limit.setLimit(3);
  limiter.handOver();
  expect([limiter.limit, given.length]).toEqual([3, 3]);
  limit.setLimit(1);
  given[0]?.end("ok");
  given[1]?.end("ok");
  expect(given).toHaveLength(3);
  given[2]?.end("ok");
  expect(given).toHaveLength(4);
  expect(() => limit.setLimit(0)).toThrow("limit is 0; it must be a whole number of at least 1");
});

describe("the algorithm is told that an attempt was blocked", () => {
  test("if it weighs more than what is free, whether it is refused or waits", () => {
    const { algorithm, limiter, wait } = setUp(3);
    limiter.tryAcquire(2);
    expect(limiter.tryAcquire(2)).toBeUndefined();
    expect(algorithm.blocked).toBe(1);
    wait(2);
    expect(algorithm.blocked).toBe(2);
  });

  test("by its own pause, but not by a full limit or another condition", () => {
    const { algorithm, limiter } = setUp(1, { admit: () => false });
    limiter.tryAcquire();
    limiter.forceAcquire();
    limiter.tryAcquire();
    expect(algorithm.blocked).toBe(0);
    const paused = setUp(1);
    paused.algorithm.paceMs = 20;
    paused.limiter.tryAcquire();
    expect(paused.algorithm.blocked).toBe(1);
  });
});

/** A limiter of one permit that is out, a waiter that throws in `bad`, and a good one after it. */
function setUpThrowing(bad: "onPermit" | "isLate" | "onLate") {
  const errors: unknown[] = [];
  const scene = setUp(1, { onError: (error) => errors.push(error) });
  const first = scene.limiter.tryAcquire();
  const fail = (): never => {
    throw new Error(bad);
  };
  const onPermit = (permit: Permit): unknown => scene.given.push(permit);
  scene.limiter.wait({
    weight: 1,
    priority: 0,
    onPermit,
    ...(bad === "onLate" ? { isLate: () => true } : {}),
    [bad]: fail,
  });
  scene.wait();
  scene.algorithm.next = 1;
  return { ...scene, first, errors };
}

describe("a waiter that throws", () => {
  test.each(["onPermit", "isLate", "onLate"] as const)(
    "in %s breaks neither the end of another permit nor the waiters after it",
    (bad) => {
      const { limiter, first, errors, given, decisions } = setUpThrowing(bad);
      expect(first?.end("ok")).toBe(true);
      expect(errors).toEqual([new Error(bad)]);
      expect(given).toHaveLength(1);
      expect(decisions).toHaveLength(1);
      expect([limiter.inFlight, limiter.waiting]).toEqual([1, 0]);
    },
  );

  test("gives its permit back as ignored", () => {
    const { algorithm, first } = setUpThrowing("onPermit");
    first?.end("ok");
    expect(algorithm.samples.map(({ outcome }) => outcome)).toEqual(["ok", "ignored"]);
  });

  test("is an unhandled rejection unless onError is given", async () => {
    const { limiter } = setUp(1);
    const caught: unknown[] = [];
    const listeners = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.once("unhandledRejection", (error) => caught.push(error));
    limiter.wait({
      weight: 1,
      priority: 0,
      onPermit: () => {
        throw new Error("mine");
      },
    });
    await systemTimer.sleep(1);
    for (const listener of listeners) process.on("unhandledRejection", listener);
    expect(caught).toEqual([new Error("mine")]);
  });
});

test("an observer of decisions that throws does not break the end of a permit", () => {
  const errors: unknown[] = [];
  const { algorithm, limiter, given, wait } = setUp(1, {
    onDecision: () => {
      throw new Error("mine");
    },
    onError: (error) => errors.push(error),
  });
  const permit = limiter.tryAcquire();
  wait();
  algorithm.next = 1;
  expect(permit?.end("ok")).toBe(true);
  expect([errors, given.length]).toEqual([[new Error("mine")], 1]);
});

/** The permits that a seeded client gets; `asks`: with questions between all calls. */
function play(asks: boolean): unknown[] {
  const random = new SeededRandom(3);
  const clock = new VirtualClock();
  const limiter = new ConcurrencyLimiter(new SluiceLimit({ random: new SeededRandom(1) }), {
    clock,
    maxWaiting: 5,
  });
  const given: Permit[] = [];
  const seen: unknown[] = [];
  for (let step = 0; step < 3000; step++) {
    clock.advance(5 * random.next());
    const [kind, weight] = [random.next(), 1 + Math.floor(3 * random.next())];
    if (asks) {
      limiter.pauseMs();
      limiter.hasRoom(weight);
      seen.push(limiter.limit, limiter.inFlight, limiter.waiting, limiter.first, limiter.waiters());
      seen.length = 0;
    }
    if (kind < 0.4) {
      const permit = limiter.tryAcquire(weight);
      if (permit !== undefined) given.push(permit);
    } else if (kind < 0.6) {
      limiter.wait({ weight, priority: 0, onPermit: (permit) => given.push(permit) });
    } else if (kind < 0.65) limiter.handOver();
    else given[given.length - 1 - Math.floor(5 * kind)]?.end(kind < 0.7 ? "busy" : "ok");
  }
  return given.map(({ startedAtMs, weight, inFlightAtStart }) => [
    startedAtMs,
    weight,
    inFlightAtStart,
  ]);
}

test("asking changes nothing: the same permits are given however often a limiter is asked", () => {
  expect(play(true)).toEqual(play(false));
});
