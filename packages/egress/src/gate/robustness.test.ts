/** What callers, hooks and answers can do wrong, and what must not follow from it. */
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import { createGate } from "./gate.ts";
import { createGates } from "./gates.ts";
import type { GateOptions } from "./options/gate-options.ts";

function setUp(options: GateOptions = {}) {
  const timer = new VirtualTimer();
  const random = new SeededRandom(1);
  const gate = createGate({
    name: "peer",
    ...options,
    runtime: { timer, random, wallClock: timer },
  });
  return { timer, gate };
}

const never = (): Promise<never> => new Promise(() => undefined);

/** What a promise rejects with. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("an attempt that hangs", () => {
  test("is given up after attemptTimeoutMs, and made again if it is idempotent", async () => {
    const { gate, timer } = setUp({
      attemptTimeoutMs: 100,
      retry: { attempts: 2, idempotent: true },
    });
    let attempts = 0;
    const signals: AbortSignal[] = [];
    const run = gate.run((signal) => {
      signals.push(signal);
      return attempts++ === 0 ? never() : "served";
    });
    await timer.advance(1000);
    expect(await run).toBe("served");
    expect(signals[0]?.aborted).toBe(true);
    expect(gate.abandoned).toBe(1);
  });

  test("is not made again unless it may be executed twice, and the error names the timeout", async () => {
    const { gate, timer } = setUp({ retry: 3 });
    const error = errorOf(gate.run(never, { attemptTimeoutMs: 100, deadlineMs: 5000 }));
    await timer.advance(100);
    expect(String(await error)).toMatch(/timeout of 100 ms \(attemptTimeoutMs\)/);
  });

  test("waits in the queue without its timeout running", async () => {
    const { gate, timer } = setUp({ concurrency: 1, attemptTimeoutMs: 100 });
    void gate.run(() => timer.sleep(90));
    const second = gate.run(() => timer.sleep(90).then(() => "served"));
    await timer.advance(180);
    expect(await second).toBe("served");
  });

  test("has no timeout for the rest of an answer that is kept", async () => {
    const { gate, timer } = setUp({ attemptTimeoutMs: 100 });
    let end: (() => void) | undefined;
    await gate.runHooked(
      () => "head",
      {},
      {
        keep: (_value, permit) => {
          end = () => permit.end("ok");
          return true;
        },
      },
    );
    await timer.advance(1000);
    expect(gate.inFlight).toBe(1);
    end?.();
    expect([gate.inFlight, timer.sleeping]).toEqual([0, 0]);
  });
});

test("a wrapped function passes the gate with its arguments, and its options may depend on them", async () => {
  const { gate, timer } = setUp({ rates: { tokens: { rate: "10/s", burst: 10 } } });
  const repeat = gate.wrap(
    (text: string, times: number) => text.repeat(times),
    (_text, times) => ({ cost: { tokens: times } }),
  );
  expect(await repeat("a", 10)).toBe("aaaaaaaaaa");
  const later = repeat("b", 5);
  expect(gate.why()).toMatchObject({ rate: "tokens", leftMs: 500 });
  await timer.advance(500);
  expect(await later).toBe("bbbbb");
  expect(() => gate.wrap(5 as never)).toThrow(/give it the function/);
});

test("leaving the scope of a permit ends it, and that of a gate waits for what runs", async () => {
  const { gate, timer } = setUp({ concurrency: 1 });
  {
    using permit = gate.tryAcquire().permit;
    expect(permit?.hasEnded).toBe(false);
    expect(gate.inFlight).toBe(1);
  }
  expect(gate.inFlight).toBe(0);
  const running = gate.run(() => timer.sleep(50));
  const waiting = errorOf(gate.run(() => 1));
  let isOver = false;
  const disposed = gate[Symbol.asyncDispose]().then(() => (isOver = true));
  await timer.advance(49);
  expect(await waiting).toMatchObject({ code: "CLOSED" });
  expect(isOver).toBe(false);
  await timer.advance(1);
  await Promise.all([running, disposed]);
});

describe("a hook that throws", () => {
  const mistake = new Error("hook");
  const hooks = {
    onRefused: () => {
      throw mistake;
    },
    onVerdict: () => {
      throw mistake;
    },
  };

  test("is told to its own caller, and the deadlines of others are kept", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    const running = errorOf(gate.runHooked(never, { deadlineMs: 100 }, hooks));
    const inQueue = errorOf(gate.runHooked(() => 1, { deadlineMs: 100 }, hooks));
    const others = [100, 101, 200].map((deadlineMs) => errorOf(gate.run(() => 1, { deadlineMs })));
    await timer.advance(200);
    expect([await running, await inQueue]).toEqual([mistake, mistake]);
    for (const other of others) expect(await other).toMatchObject({ code: "THROTTLED" });
    expect(gate.waiting).toBe(0);
  });
});

describe("an error says what to do", () => {
  test("when the queue is full", async () => {
    const { gate } = setUp({ concurrency: 1, maxWaiting: 1 });
    void gate.run(never);
    void gate.run(never);
    const error = await errorOf(gate.run(never));
    expect(String(error)).toBe(
      "ThrottledError: peer: queue full: 1 calls wait (maxWaiting) for a permit (concurrency limit 1); make fewer calls at once or raise maxWaiting",
    );
  });

  test("when a deadline passes in the queue, or would", async () => {
    const { gate, timer } = setUp({ rate: { rate: "1/10s", burst: 1 }, concurrency: 1 });
    const first = gate.run(() => timer.sleep(200));
    const passed = errorOf(gate.run(() => 1, { deadlineMs: 100 }));
    expect(String(await passed)).toMatch(
      /deadline of 100 ms is before the call could start: it would wait 10000 ms for rate 1\/10s/,
    );
    await timer.advance(9950);
    await first;
    void gate.run(() => timer.sleep(1000));
    await timer.advance(60);
    const second = errorOf(gate.run(() => 1, { deadlineMs: 100, wait: false }));
    expect(await second).toMatchObject({ retryAfterMs: expect.any(Number) as number });
    expect(String(await second)).toMatch(/refused at once, without waiting for rate 1\/10s/);
  });

  test("when a permit did not come before the deadline", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    void gate.run(never);
    const error = errorOf(gate.run(() => 1, { deadlineMs: 100 }));
    await timer.advance(100);
    expect(String(await error)).toMatch(
      /deadline of 100 ms passed while waiting for a permit \(concurrency limit 1\)/,
    );
  });
});

test.each<[unknown, RegExp]>([
  [{ rate: 100 }, /rate is 100; write it as "100\/s"/],
  [{ rate: "1/s", rates: { a: "1/s" } }, /both set/],
  [{ rates: { tokens: 5 } }, /rates\.tokens is 5/],
  [{ rates: "5/s" }, /rates are "5\/s"/],
  [{ retry: true }, /retry is true; use a number of attempts/],
  [{ retry: "3" }, /retry is "3"; use a number of attempts/],
  [{ rate: Promise.resolve() }, /rate is a promise; await it first, as in rate: await joinFleet/],
  [{ retry: 0 }, /retry\.attempts is 0/],
  [{ observers: 5 }, /observers is 5/],
  [{ observers: [5] }, /one of observers is 5/],
  [{ classify: 5 }, /classify is 5; it must be a function/],
  [{ costOf: {} }, /costOf is/],
  [{ maxPauseMs: -1 }, /maxPauseMs is -1/],
  [{ attemptTimeoutMs: "5" }, /attemptTimeoutMs is "5"/],
  [{ maxwaiting: 5 }, /did you mean maxWaiting\? it has name, concurrency, rate, rates/],
  [5, /options of a gate are 5/],
])("options %j are refused with what is expected", (options, message) => {
  expect(() => createGate(options as GateOptions)).toThrow(message);
});

test("one observer and a number of attempts may be given as they are", async () => {
  const seen: string[] = [];
  const { gate, timer } = setUp({
    retry: 2,
    observers: ({ type }) => seen.push(type),
    classify: () => ({ outcome: "busy", retriable: "safe", scope: "busy-here" }),
  });
  const run = gate.run(() => 1);
  await timer.advance(1000);
  await run;
  expect(seen.filter((type) => type === "ended")).toHaveLength(2);
});

test("as many calls may be parked as may wait", async () => {
  const { gate, timer } = setUp({
    retry: { attempts: 2, budget: { minPerSecond: 1000 } },
    maxWaiting: 500,
    classify: () => ({ outcome: "busy", retriable: "safe", scope: "overloaded" }),
  });
  for (let i = 0; i < 600; i++) void gate.run(() => 1);
  await timer.advance(0);
  expect(gate.parked).toBe(500);
  await timer.advance(60_000);
});

const answer = (status: number) => () => ({ status, headers: { "retry-after": "10" } });

// Mutants that survived the tests of the first version.

test("a gate that is forgotten is closed: a call on a gate that was kept is told so", async () => {
  const timer = new VirtualTimer();
  const gates = createGates({ maxKeys: 1, gate: { runtime: { timer } } });
  const kept = gates.for("a");
  await timer.advance(10);
  gates.for("b");
  expect(kept.isClosed).toBe(true);
  await expect(kept.run(() => 1)).rejects.toMatchObject({ code: "CLOSED" });
});

test("a busy answer that asks for less than the pause that is on sets no pace for the calls after it", async () => {
  const { gate, timer } = setUp({ busy: "off" });
  for (let i = 0; i < 40; i++) {
    await gate.run(answer(200));
    await timer.advance(50);
  }
  const inFlight = gate.run(() => timer.sleep(5).then(answer(429)));
  gate.pause(20_000);
  await timer.advance(gate.pausedForMs);
  await inFlight;
  let started = 0;
  for (let i = 0; i < 100; i++) void gate.run(() => started++);
  expect(started).toBe(100);
});

test("each gate reports its own refusals, and a map of gates refuses by the key", async () => {
  const refused: string[] = [];
  const gates = createGates({
    gate: {
      concurrency: 1,
      observers: (event) => event.type === "refused" && refused.push(event.gate),
      runtime: { timer: new VirtualTimer() },
    },
  });
  for (const key of ["a", "b"]) void gates.for(key).run(never);
  expect(gates.for("a").tryAcquire().refused).toBe("concurrency");
  expect(refused).toEqual(["a"]);
  expect(await gates.for("b").tryRun(() => 1, { wait: false })).toMatchObject({
    refused: "concurrency",
  });
  expect(refused).toEqual(["a", "b"]);
});

test("the end of a gate is waited for until the last of its permits is back", async () => {
  const gate = createGate();
  const permits = [gate.tryAcquire().permit, gate.tryAcquire().permit];
  let ended = 0;
  const ends = [gate[Symbol.asyncDispose](), gate[Symbol.asyncDispose]()].map(async (end) => {
    await end;
    ended++;
  });
  permits[0]?.end("ok");
  await nextTurn();
  expect(ended).toBe(0);
  permits[1]?.end("ok");
  await Promise.all(ends);
  expect(ended).toBe(2);
  await gate[Symbol.asyncDispose]();
});
