import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import type { GateEvent } from "../gate/event.ts";
import { createGate } from "../gate/gate.ts";
import type { GateOptions } from "../gate/options.ts";
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

test("leave to come back at once does not switch the back-off off", async () => {
  const { gate, timer, answers, startedAtMs } = setUp({ attempts: 5 });
  const run = gate.run(answers(told(0)));
  await timer.advance(60_000);
  await run;
  expect(startedAtMs).toHaveLength(5);
  expect(new Set(startedAtMs).size).toBe(5);
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
