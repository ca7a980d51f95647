import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import type { CallOptions } from "../gate/options/call-options.ts";
import type { GateEvent } from "../gate/event/event.ts";
import { createGate } from "../gate/gate.ts";
import type { GateOptions } from "../gate/options/gate-options.ts";
import type { Verdict } from "../outcome/verdict.ts";
import type { RetryOptions } from "./retry.ts";

/** Values are their own verdicts here. */
function setUp(retry: RetryOptions = {}, options: GateOptions = {}) {
  const timer = new VirtualTimer();
  const events: GateEvent[] = [];
  const gate = createGate({
    busy: "off",
    ...options,
    retry,
    classify: (settled) => ("value" in settled ? (settled.value as Verdict) : undefined),
    observers: [(event) => events.push(event)],
    runtime: { timer, random: new SeededRandom(1) },
  });
  const startedAtMs: number[] = [];
  const answers = (...verdicts: Verdict[]) => {
    let next = 0;
    return (): Promise<Verdict> => {
      startedAtMs.push(timer.now());
      const verdict = verdicts[Math.min(next++, verdicts.length - 1)];
      return verdict === undefined
        ? Promise.reject(new Error("no answer"))
        : Promise.resolve(verdict);
    };
  };
  return { timer, events, gate, answers, startedAtMs };
}

const OK: Verdict = { outcome: "ok", retriable: "never" };
const HERE: Verdict = { outcome: "busy", retriable: "safe", scope: "busy-here" };
const OVERLOADED: Verdict = { outcome: "busy", retriable: "safe", scope: "overloaded" };
const FAILED: Verdict = { outcome: "failed", retriable: "if-idempotent" };
const WRONG: Verdict = { outcome: "ignored", retriable: "never" };
const told = (pauseMs: number): Verdict => ({ ...OVERLOADED, pauseMs });

describe("what is made again", () => {
  test.each<[string, Verdict, boolean, number]>([
    ["busy here", HERE, false, 2],
    ["overloaded", OVERLOADED, false, 2],
    ["failed, perhaps executed", FAILED, false, 1],
    ["failed, and may be executed twice", FAILED, true, 2],
    ["wrong", WRONG, true, 1],
    ["fine", OK, true, 1],
  ])("%s", async (_what, first, idempotent, attempts) => {
    const { gate, timer, answers, startedAtMs } = setUp();
    const run = gate.run(answers(first, OK), { idempotent });
    await timer.advance(1000);
    expect(await run).toBe(attempts === 1 ? first : OK);
    expect(startedAtMs).toHaveLength(attempts);
    expect(timer.sleeping).toBe(0);
  });

  test("an error is, if it was thrown before anything was sent", async () => {
    const { gate, timer } = setUp();
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    let calls = 0;
    const run = gate.run(() => (++calls === 1 ? Promise.reject(refused) : Promise.resolve(OK)));
    await timer.advance(1000);
    expect(await run).toBe(OK);
    expect(calls).toBe(2);
  });

  test("a refusal of the gate's own is not", async () => {
    const { gate, events } = setUp({}, { concurrency: 1, maxWaiting: 0 });
    void gate.run(() => new Promise(() => undefined));
    await expect(gate.run(() => OK)).rejects.toMatchObject({ code: "THROTTLED" });
    expect(events.filter(({ type }) => type === "retry")).toEqual([]);
    expect(await gate.tryRun(() => OK)).toMatchObject({ refused: "concurrency" });
  });
});

describe("when", () => {
  test("at once if only this peer is busy", async () => {
    const { gate, answers, startedAtMs } = setUp();
    await gate.run(answers(HERE, OK));
    expect(startedAtMs).toEqual([0, 0]);
  });

  test("not before the peer said", async () => {
    const { gate, timer, answers, startedAtMs } = setUp();
    const run = gate.run(answers(told(1000), OK));
    await timer.advance(999);
    expect(gate.parked).toBe(1);
    expect(gate.inFlight).toBe(0);
    await timer.advance(200);
    expect(await run).toBe(OK);
    expect(startedAtMs[1]).toBeGreaterThanOrEqual(1000);
    expect(startedAtMs[1]).toBeLessThanOrEqual(1100);
  });

  test("after a backoff otherwise, holding no permit meanwhile", async () => {
    const { gate, timer, answers } = setUp({ backoff: { baseMs: 100 } }, { concurrency: 1 });
    const run = gate.run(answers(OVERLOADED, OK));
    await timer.advance(0);
    expect(gate.parked).toBe(1);
    expect(await gate.run(() => OK)).toBe(OK);
    await timer.advance(100);
    expect(await run).toBe(OK);
  });

  test("not at all if it could not start before the deadline", async () => {
    const { gate, timer, answers, startedAtMs } = setUp();
    const busy = told(1000);
    expect(await gate.run(answers(busy), { deadlineMs: 500 })).toBe(busy);
    expect(startedAtMs).toHaveLength(1);
    expect(timer.sleeping).toBe(0);
  });
});

describe("bounds", () => {
  test("of attempts", async () => {
    const { gate, answers, startedAtMs } = setUp({ attempts: 4 });
    expect(await gate.run(answers(HERE))).toBe(HERE);
    expect(startedAtMs).toHaveLength(4);
  });

  test("of extra load", async () => {
    const budget = { ratio: 0.2, minPerSecond: 0 };
    const { gate, answers, startedAtMs } = setUp({ budget, attempts: 2 });
    for (let i = 0; i < 100; i++) await gate.run(answers(HERE));
    expect(startedAtMs).toHaveLength(120);
  });

  test("of parked calls, beyond which a failure is final", async () => {
    const { gate, timer, answers } = setUp({ maxParked: 2 });
    const runs = Array.from({ length: 5 }, () => gate.run(answers(told(1000), OK)));
    await timer.advance(0);
    expect(gate.parked).toBe(2);
    await timer.advance(5000);
    const values = await Promise.all(runs);
    expect(values.filter((value) => value === OK)).toHaveLength(2);
    expect(gate.parked).toBe(0);
  });

  test("of the deadline, for all attempts together", async () => {
    const { gate, timer, answers } = setUp({ attempts: 100, budget: { minPerSecond: 1000 } });
    const slow = answers(HERE);
    const run = gate.run(() => timer.sleep(30).then(slow), { deadlineMs: 100 });
    const late = run.catch((error: unknown) => error);
    await timer.advance(100);
    expect(await late).toMatchObject({ code: "DEADLINE" });
    await timer.advance(100);
    expect(timer.sleeping).toBe(0);
  });
});

test("a parked call can be given up", async () => {
  const { gate, timer, answers } = setUp();
  const controller = new AbortController();
  const run = gate.run(answers(told(1000)), { signal: controller.signal });
  await timer.advance(10);
  controller.abort();
  await expect(run).rejects.toBe(controller.signal.reason);
  await timer.advance(0);
  expect(gate.parked).toBe(0);
  expect(timer.sleeping).toBe(0);
});

test("a closed gate answers the parked", async () => {
  const { gate, timer, answers } = setUp();
  const run = gate.run(answers(told(1000)));
  await timer.advance(10);
  gate.close();
  await expect(run).rejects.toMatchObject({ code: "CLOSED" });
  await timer.advance(0);
  expect(timer.sleeping).toBe(0);
});

/** The first attempt comes to `first`; when it would be made again, there is no place any more. */
function refusedLater(first: () => Promise<Verdict>) {
  const all = setUp({ backoff: { baseMs: 10 } }, { concurrency: 1, maxWaiting: 0 });
  let calls = 0;
  const work = (): Promise<Verdict> => {
    calls++;
    return first();
  };
  const fill = async (): Promise<void> => {
    await all.timer.advance(0);
    expect(all.gate.parked).toBe(1);
    void all.gate.run(() => new Promise(() => undefined));
    await all.timer.advance(10);
    expect(calls).toBe(1);
  };
  return { ...all, work, fill };
}

describe("a retry that the gate refuses", () => {
  const error = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

  test("leaves its caller the answer that there was", async () => {
    const { gate, work, fill } = refusedLater(() => Promise.resolve(OVERLOADED));
    const run = gate.run(work);
    await fill();
    expect(await run).toBe(OVERLOADED);
  });

  test("leaves its caller the error that there was", async () => {
    const { gate, work, fill } = refusedLater(() => Promise.reject(error));
    const run = gate.run(work).catch((caught: unknown) => caught);
    await fill();
    expect(await run).toBe(error);
  });

  test.each<[string, () => Promise<Verdict>, object]>([
    ["a value", () => Promise.resolve(OVERLOADED), { value: { value: OVERLOADED } }],
    ["an error", () => Promise.reject(error), { error }],
  ])("is not what tryRun tells, if there was %s", async (_what, first, outcome) => {
    const { gate, work, fill } = refusedLater(first);
    const run = gate.tryRun(work).then(
      (value) => ({ value }),
      (caught: unknown) => ({ error: caught }),
    );
    await fill();
    expect(await run).toEqual(outcome);
  });

  test("is told if the answer before it was done away with", async () => {
    const { gate, work, fill } = refusedLater(() => Promise.resolve(OVERLOADED));
    const discarded: unknown[] = [];
    const run = gate.retrier?.run(
      (attempt, hooks) => gate.runHooked(work, attempt, hooks),
      {},
      (value) => discarded.push(value),
    );
    const caught = run?.catch((thrown: unknown) => thrown);
    await fill();
    expect(await caught).toMatchObject({ code: "THROTTLED" });
    expect(discarded).toEqual([OVERLOADED]);
  });
});

test("a call comes back when the pause of its gate ends, not sooner to wait in the queue", async () => {
  const { gate, timer, answers, events } = setUp({}, { maxWaiting: 0 });
  const runs = Array.from({ length: 20 }, () => gate.run(answers(told(1000), OK), { wait: false }));
  await timer.advance(1200);
  expect(new Set(await Promise.all(runs))).toEqual(new Set([OK]));
  expect(events.filter(({ type }) => type === "held" || type === "refused")).toEqual([]);
});

describe("observers", () => {
  test.each<[string, RetryOptions, CallOptions, number]>([
    ["attempts", { attempts: 1 }, {}, 1],
    ["budget", { budget: { ratio: 0, minPerSecond: 0 } }, {}, 1],
    ["max-parked", { maxParked: 0 }, {}, 1],
    ["deadline", {}, { deadlineMs: 500 }, 1],
  ])("see that a retry is not made because of its %s", async (deniedBy, retry, call, attempt) => {
    const { gate, answers, events } = setUp(retry);
    await gate.run(answers(told(1000)), call);
    expect(events.at(-1)).toMatchObject({ type: "retry-denied", deniedBy, attempt });
    expect(events.some(({ type }) => type === "retry")).toBe(false);
  });

  test.each([WRONG, OK, FAILED])("see nothing denied to %j", async (verdict) => {
    const { gate, answers, events } = setUp({ attempts: 1 });
    await gate.run(answers(verdict));
    expect(events.at(-1)).toMatchObject({ type: "ended" });
  });

  test("see who leaves while it is parked", async () => {
    const { gate, timer, answers, events } = setUp();
    const controller = new AbortController();
    const run = gate.run(answers(told(1000)), { signal: controller.signal });
    await timer.advance(10);
    controller.abort();
    await expect(run).rejects.toBe(controller.signal.reason);
    expect(events.at(-1)).toMatchObject({ type: "left", leftBecause: "aborted" });
  });
});

test("who gives up between an answer and the wait for the next is answered at once", async () => {
  const controller = new AbortController();
  const { gate, timer, answers, events } = setUp();
  const run = gate.run(answers(told(200_000)), { signal: controller.signal });
  // The answer is judged by now, and nobody is parked yet.
  while (gate.pausedForMs === 0) await Promise.resolve();
  expect(gate.parked).toBe(0);
  controller.abort();
  await expect(run).rejects.toBe(controller.signal.reason);
  expect([gate.parked, timer.sleeping]).toEqual([0, 0]);
  expect(events.at(-1)).toMatchObject({ type: "left", leftBecause: "aborted" });
});

test("each attempt is measured by itself, never around the backoff", async () => {
  const { gate, timer, answers, events } = setUp();
  const work = answers(told(500), OK);
  const run = gate.run(() => timer.sleep(10).then(work));
  await timer.advance(2000);
  await run;
  const ended = events.filter((event) => event.type === "ended");
  expect(ended.map(({ outcome, rttMs }) => [outcome, Math.round(rttMs)])).toEqual([
    ["busy", 10],
    ["ok", 10],
  ]);
});

test.each<RetryOptions>([
  { attempts: 0 },
  { maxParked: -1 },
  { backoff: { factor: 0 } },
  { budget: { ratio: -1 } },
])("refuses %j", (retry) => {
  expect(() => createGate({ retry })).toThrow(/must be/);
});

test.each([0, 1])("leave to come back after %d ms does not cut the back-off short", async (ms) => {
  const { gate, timer, answers, startedAtMs } = setUp({ attempts: 5 });
  const run = gate.run(answers(told(ms)));
  await timer.advance(60_000);
  await run;
  expect(new Set(startedAtMs).size).toBe(5);
  // Four hints of a millisecond, and what is added to them, are over long before.
  expect(startedAtMs.at(-1)).toBeGreaterThan(20);
});

test("a caller who gave up while the answer came is not kept for the pause", async () => {
  const { gate, timer } = setUp();
  const given = new AbortController();
  const run = gate.run(
    () => {
      given.abort(new Error("given up"));
      return Promise.resolve(told(3_600_000));
    },
    { signal: given.signal },
  );
  await expect(run).rejects.toThrow("given up");
  expect(timer.sleeping).toBe(0);
});

test("calls that were never sent pay for no retries of others", async () => {
  const budget = { ratio: 0.2, minPerSecond: 0 };
  const { gate, timer, answers, startedAtMs } = setUp(
    { attempts: 100, budget },
    { concurrency: 1, maxWaiting: 0 },
  );
  const holder = gate.run(() => timer.sleep(10).then(() => OK));
  for (let i = 0; i < 1000; i++) await gate.run(answers(OK)).catch(() => undefined);
  await timer.advance(10);
  await holder;
  const run = gate.run(answers(HERE));
  await timer.advance(60_000);
  await run;
  expect(startedAtMs.length).toBeLessThanOrEqual(2);
});

// A blocked event loop: the one who is parked wakes only after its deadline.
test("a retry that wakes after the deadline is not made, and leaves the answer that there was", async () => {
  const { gate, timer, answers, startedAtMs } = setUp();
  const run = gate.run(answers(told(100)), { deadlineMs: 150 });
  await timer.advance(1);
  const real = timer.now.bind(timer);
  timer.now = () => real() + 300;
  await timer.advance(200);
  timer.now = real;
  expect(await run).toEqual(told(100));
  expect(startedAtMs).toHaveLength(1);
});
