import { getEventListeners } from "node:events";
import { SeededRandom } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import type { CallOptions } from "./options/call-options.ts";
import type { GateEvent } from "./event/event.ts";
import type { RateQueue } from "./rate/rate-source.ts";
import { createGate } from "./gate.ts";
import type { Gate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";
import { ClosedError, DeadlineError, ThrottledError } from "./error/throttled-error.ts";

function setUp(options: GateOptions = {}) {
  const timer = new VirtualTimer();
  const events: GateEvent[] = [];
  const gate = createGate({
    name: "peer",
    ...options,
    observers: [(event) => events.push(event)],
    runtime: { timer, random: new SeededRandom(1) },
  });
  return { timer, events, gate };
}

const ignore = (): void => undefined;

/** A call that ends when told to. */
function pending<T = string>() {
  let resolve: (value: T) => void = ignore;
  let reject: (error: unknown) => void = ignore;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { work: () => promise, resolve, reject };
}

/** How a promise came out, so far. */
function watch<T>(promise: Promise<T>): { value?: T; error?: unknown } {
  const result: { value?: T; error?: unknown } = {};
  promise.then(
    (value) => {
      result.value = value;
      return result;
    },
    (error: unknown) => {
      result.error = error;
      return result;
    },
  );
  return result;
}

function fill(gate: Gate, count: number) {
  const calls = Array.from({ length: count }, () => pending());
  for (const { work } of calls) void gate.run(work);
  return calls;
}

describe("run", () => {
  test("gives back the function's value, synchronous or not", async () => {
    const { gate } = setUp();
    expect(await gate.run(() => 1)).toBe(1);
    expect(await gate.run(() => Promise.resolve(2))).toBe(2);
    expect(gate.inFlight).toBe(0);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
  ])("passes on what the function %s, and frees its permit", async (_how, work) => {
    const { gate } = setUp({ concurrency: 1 });
    await expect(gate.run(work)).rejects.toThrow("broken");
    await expect(gate.run(work, { deadlineMs: 100 })).rejects.toThrow("broken");
    expect(gate.inFlight).toBe(0);
  });

  test("starts in the same step when there is room, else in the order of handler", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    const started: string[] = [];
    const first = pending();
    void gate.run(() => {
      started.push("first");
      return first.work();
    });
    expect(started).toEqual(["first"]);
    const rest = ["second", "third"].map((name) => gate.run(() => started.push(name)));
    const urgent = gate.run(() => started.push("urgent"), { priority: 1 });
    await timer.advance(0);
    expect(gate.waiting).toBe(3);
    first.resolve("done");
    await Promise.all([...rest, urgent]);
    expect(started).toEqual(["first", "urgent", "second", "third"]);
  });

  test("never has more in flight than the limit, by weight", async () => {
    const { gate, timer } = setUp({ concurrency: 4 });
    let inFlight = 0;
    let most = 0;
    const runs = Array.from({ length: 40 }, (_, i) => {
      const weight = 1 + (i % 3);
      return gate.run(
        async () => {
          inFlight += weight;
          most = Math.max(most, inFlight);
          await timer.sleep(1 + (i % 5));
          inFlight -= weight;
        },
        { weight },
      );
    });
    await timer.advance(1000);
    await Promise.all(runs);
    expect(most).toBe(4);
  });

  test("refuses who finds the line full, with a reason and an estimate", async () => {
    const { gate, timer } = setUp({ concurrency: 1, maxWaiting: 2 });
    const served = gate.run(() => timer.sleep(10));
    await timer.advance(10);
    await served;
    fill(gate, 3);
    const error = await gate.run(() => 1).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ThrottledError);
    expect(error).toMatchObject({
      code: "THROTTLED",
      reason: "concurrency",
      gate: "peer",
      isRetriable: false,
    });
    expect((error as ThrottledError).retryAfterMs).toBe(30);
    expect(gate.waiting).toBe(2);
  });

  test("a full line makes room for who is more important", async () => {
    const { gate, timer } = setUp({ concurrency: 1, maxWaiting: 1 });
    fill(gate, 1);
    const humble = watch(gate.run(() => 1));
    const urgent = watch(gate.run(() => 2, { priority: 1 }));
    await timer.advance(0);
    expect(humble.error).toBeInstanceOf(ThrottledError);
    expect(urgent).toEqual({});
  });

  test("who will not wait is refused at once", async () => {
    const { gate } = setUp({ concurrency: 1 });
    fill(gate, 1);
    await expect(gate.run(() => 1, { wait: false })).rejects.toMatchObject({
      reason: "concurrency",
    });
  });
});

describe("a deadline", () => {
  test("that passes in the queue is a refusal with its reason", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    fill(gate, 1);
    const late = watch(gate.run(() => 1, { deadlineMs: 50 }));
    await timer.advance(49);
    expect(late).toEqual({});
    await timer.advance(1);
    expect(late.error).toMatchObject({ code: "THROTTLED", reason: "concurrency" });
    expect(gate.waiting).toBe(0);
    expect(timer.sleeping).toBe(0);
  });

  test("that passes while running answers the caller, and keeps the permit until the end", async () => {
    const { gate, timer, events } = setUp({ concurrency: 1 });
    const hung = pending();
    const late = watch(gate.run(hung.work, { deadlineMs: 50 }));
    await timer.advance(50);
    expect(late.error).toBeInstanceOf(DeadlineError);
    expect(late.error).toMatchObject({ code: "DEADLINE" });
    expect(gate.inFlight).toBe(1);
    expect(gate.abandoned).toBe(1);
    const next = watch(gate.run(() => "next", { deadlineMs: 20 }));
    await timer.advance(20);
    expect(next.error).toMatchObject({ code: "THROTTLED" });
    hung.reject(new Error("too late for anybody"));
    await timer.advance(0);
    expect(gate.inFlight).toBe(0);
    expect(gate.abandoned).toBe(0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([
      { outcome: "failed", rttMs: 50 },
    ]);
    expect(timer.sleeping).toBe(0);
  });

  test("aborts the signal that the function was given", async () => {
    const { gate, timer } = setUp();
    let given: AbortSignal | undefined;
    const late = watch(
      gate.run(
        (signal) => {
          given = signal;
          return pending().work();
        },
        { deadlineMs: 10 },
      ),
    );
    await timer.advance(10);
    expect(given?.aborted).toBe(true);
    expect(given?.reason).toBe(late.error);
  });

  test("aborts the signal also of a function that does not seem to take one", async () => {
    const { gate, timer } = setUp();
    let given: AbortSignal | undefined;
    const work = (...args: AbortSignal[]): Promise<string> => {
      [given] = args;
      return pending().work();
    };
    expect(work).toHaveLength(0);
    const late = watch(gate.run(work, { deadlineMs: 10 }));
    await timer.advance(10);
    expect(late.error).toBeInstanceOf(DeadlineError);
    expect(given?.reason).toBe(late.error);
  });

  test("covers waiting and running together", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    void gate.run(() => timer.sleep(30));
    const late = watch(gate.run(pending().work, { deadlineMs: 50 }));
    await timer.advance(49);
    expect(late).toEqual({});
    await timer.advance(1);
    expect(late.error).toBeInstanceOf(DeadlineError);
  });

  test("leaves no sleep behind when calls end in time", async () => {
    const { gate, timer } = setUp({ concurrency: 2 });
    const runs = Array.from({ length: 10 }, () =>
      gate.run(() => timer.sleep(1), { deadlineMs: 1e6 }),
    );
    await timer.advance(10);
    await Promise.all(runs);
    expect(timer.sleeping).toBe(0);
  });
});

describe("a signal", () => {
  test("takes a call out of the line, with its own reason", async () => {
    const { gate, timer, events } = setUp({ concurrency: 1 });
    fill(gate, 1);
    const controller = new AbortController();
    const given = watch(gate.run(() => 1, { signal: controller.signal }));
    controller.abort(new Error("changed my mind"));
    await timer.advance(0);
    expect(given.error).toEqual(new Error("changed my mind"));
    expect(gate.waiting).toBe(0);
    expect(events.some(({ type }) => type === "refused")).toBe(false);
  });

  test("lets a light call behind a heavy one through when that gives up", async () => {
    const { gate, timer } = setUp({ concurrency: 2 });
    fill(gate, 1);
    const controller = new AbortController();
    const heavy = watch(gate.run(() => "heavy", { weight: 2, signal: controller.signal }));
    const light = watch(gate.run(() => "light"));
    await timer.advance(0);
    expect(light).toEqual({});
    controller.abort();
    await timer.advance(0);
    expect(heavy.error).toBe(controller.signal.reason);
    expect(light.value).toBe("light");
  });

  test("ends a running call for its caller, and says nothing of the peer", async () => {
    const { gate, timer, events } = setUp({ concurrency: 1 });
    const controller = new AbortController();
    const hung = pending();
    const given = watch(gate.run(hung.work, { signal: controller.signal }));
    controller.abort();
    await timer.advance(0);
    expect(given.error).toBe(controller.signal.reason);
    expect(gate.inFlight).toBe(1);
    hung.resolve("late");
    await timer.advance(0);
    expect(gate.inFlight).toBe(0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([{ outcome: "ignored" }]);
  });

  test("that is aborted already starts nothing", async () => {
    const { gate } = setUp();
    let calls = 0;
    const run = gate.run(() => calls++, { signal: AbortSignal.abort() });
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(calls).toBe(0);
  });
});

describe("a rate", () => {
  test("lets the burst through and then one by one", async () => {
    const { gate, timer } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 2 } });
    const startedAtMs: number[] = [];
    const runs = Array.from({ length: 5 }, () => gate.run(() => startedAtMs.push(timer.now())));
    await timer.advance(1000);
    await Promise.all(runs);
    expect(startedAtMs.map(Math.round)).toEqual([0, 0, 100, 200, 300]);
    expect(timer.sleeping).toBe(0);
  });

  test("refuses at once who would wait in vain, counting those before", async () => {
    const { gate, timer } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 1 } });
    void gate.run(() => 1);
    const patient = watch(gate.run(() => "patient", { deadlineMs: 150 }));
    const hasty = watch(gate.run(() => "hasty", { deadlineMs: 150 }));
    await timer.advance(0);
    expect(hasty.error).toMatchObject({ reason: "rate", retryAfterMs: 200 });
    expect(gate.why()).toMatchObject({ reason: "rate", leftMs: 100 });
    await timer.advance(150);
    expect(patient.value).toBe("patient");
  });

  test("a waiter whose token is there and whose wake-up is late still has a reason", async () => {
    const timer = new VirtualTimer();
    let lateMs = 0;
    const late: Timer = {
      now: () => timer.now() + lateMs,
      sleep: (ms, signal) => timer.sleep(ms, signal),
    };
    const gate = createGate({
      rate: { limit: 10, periodMs: 1000, burst: 1 },
      runtime: { timer: late, random: new SeededRandom(1) },
    });
    void gate.run(() => 1);
    const waiter = gate.run(() => 2);
    lateMs = 150;
    expect(gate.why()).toMatchObject({ reason: "rate", rate: "rate", leftMs: 1, waitedMs: 150 });
    await timer.advance(100);
    await waiter;
    lateMs = 1000;
    expect(gate.why()).toBeUndefined();
  });

  test("refuses nobody for a token of which most has come, however slow it is", async () => {
    const { gate, timer } = setUp({ rate: "1/10s" });
    await gate.run(() => 1);
    await timer.advance(9000);
    // Of the second token 50 ms were saved up at the start.
    expect(gate.why()).toMatchObject({ reason: "rate", rate: "rate", leftMs: 950 });
    const served = watch(gate.run(() => timer.now(), { deadlineMs: 5000 }));
    await timer.advance(5000);
    expect(served.value).toBe(9950);
  });

  test("is kept to by calls of any weight, up to the slowest rate that can be set", async () => {
    const yearMs = 366 * 86_400_000;
    const { gate, timer } = setUp({ rate: { limit: 1, periodMs: yearMs } });
    await gate.run(() => 1, { weight: 1_000_000 });
    expect(gate.tryAcquire().refused).toBe("rate");
    await timer.advance(yearMs);
    expect(gate.tryAcquire().refused).toBe("rate");
  });

  test("is not charged by a call that the concurrency limit holds", async () => {
    const { gate, timer } = setUp({ rate: { rate: "2/s", burst: 2 }, concurrency: 1 });
    const [first] = fill(gate, 1);
    const second = watch(gate.run(() => "second"));
    await timer.advance(0);
    first?.resolve("done");
    await timer.advance(0);
    expect(second.value).toBe("second");
    expect(gate.why()).toMatchObject({ reason: "rate" });
  });

  test("of another's making is asked the same way, and can wake the line", async () => {
    let tokens = 0;
    let wake = ignore;
    let subscribed = 0;
    const { gate, timer } = setUp({
      rate: {
        reason: "store-lost",
        tryTake: (count) => {
          if (tokens < count) return false;
          tokens -= count;
          return true;
        },
        pauseMs: (count) => (tokens < count ? 1000 : 0),
        subscribe: (queue) => {
          wake = () => queue.wake();
          subscribed++;
          return () => subscribed--;
        },
      },
    });
    const call = watch(gate.run(() => "served"));
    expect(gate.why()).toMatchObject({ reason: "store-lost", leftMs: 1000 });
    tokens = 1;
    wake();
    await timer.advance(0);
    expect(call.value).toBe("served");
    gate.close();
    expect(subscribed).toBe(0);
  });
});

test("a rate learns whether calls wait for its tokens, and not for a permit or a pause", async () => {
  let tokens = 0;
  let rateQueue: RateQueue | undefined;
  const isWaiting = () => rateQueue?.isWaiting();
  const { gate, timer } = setUp({
    concurrency: 1,
    rate: {
      reason: "fleet-share",
      tryTake: (count) => tokens >= count,
      pauseMs: (count) => (tokens < count ? 1000 : 0),
      subscribe: (queue) => {
        rateQueue = queue;
        return ignore;
      },
    },
  });
  expect(isWaiting()).toBe(false);
  const call = watch(gate.run(() => timer.sleep(1500).then(() => "first")));
  const next = watch(gate.run(() => "next"));
  expect(isWaiting()).toBe(true);
  gate.pause(5000);
  expect(isWaiting()).toBe(false);
  gate.resume();
  tokens = 9;
  await timer.advance(1000);
  expect(gate.inFlight).toBe(1);
  expect(gate.waiting).toBe(1);
  expect(isWaiting()).toBe(false);
  await timer.advance(1500);
  expect([call.value, next.value]).toEqual(["first", "next"]);
  gate.close();
});

test("a call that the rate holds after a permit came back is woken by its token", async () => {
  const { gate, timer } = setUp({
    concurrency: 2,
    rate: { limit: 10, periodMs: 1000, burst: 2 },
    busy: "off",
  });
  const startedAtMs: number[] = [];
  const run = (ms: number) =>
    gate.run(() => {
      startedAtMs.push(timer.now());
      return timer.sleep(ms);
    });
  const runs = [run(150), run(160), run(1), run(1)];
  await timer.advance(1000);
  await Promise.all(runs);
  // At 150 there was one and a half.
  expect(startedAtMs.map(Math.round)).toEqual([0, 0, 150, 200]);
});

test("who has left the line is no longer counted for the next", async () => {
  const { gate, timer } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 1 } });
  void gate.run(() => 1);
  const controller = new AbortController();
  const given = watch(gate.run(() => 1, { signal: controller.signal, weight: 50 }));
  controller.abort();
  const next = watch(gate.run(() => "next", { deadlineMs: 150 }));
  await timer.advance(100);
  expect(given.error).toBe(controller.signal.reason);
  expect(next.value).toBe("next");
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("when a heavy call leaves the head of the line, the next is woken by its own token", async () => {
  const { gate, timer } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 10 } });
  for (let i = 0; i < 10; i++) void gate.run(() => 1);
  const controller = new AbortController();
  const heavy = watch(gate.run(() => 1, { weight: 10, signal: controller.signal }));
  const next = watch(gate.run(() => timer.now()));
  await timer.advance(0);
  controller.abort();
  await timer.advance(1000);
  expect(heavy.error).toBe(controller.signal.reason);
  expect(next.value).toBe(100);
});

test("what a pause hid is looked at again when it is ended by hand", async () => {
  const { gate, timer } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 1 } });
  await gate.run(() => 1);
  gate.pause(60_000);
  const held = watch(gate.run(() => timer.now()));
  await timer.advance(10);
  gate.resume();
  await timer.advance(1000);
  expect(held.value).toBeLessThanOrEqual(110);
});

test("a signal is left as it was found, whatever becomes of the call", async () => {
  const { gate, timer } = setUp({ concurrency: 1 });
  const { signal } = new AbortController();
  const runs = [
    gate.run(() => timer.sleep(10), { signal }),
    gate.run(() => 1, { signal }),
    gate.run(() => 1, { signal, deadlineMs: 5 }).catch(() => undefined),
    gate.run(() => 1, { signal, deadlineMs: 50 }),
  ];
  expect(getEventListeners(signal, "abort").length).toBeGreaterThan(0);
  await timer.advance(20);
  await Promise.all(runs);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("a busy throttle", () => {
  const busy = { outcome: "busy", retriable: "safe", scope: "overloaded" } as const;

  test.each(["sluice", "table", "prose"] as const)(
    "by the rule %s slows calls down to what the peer takes, and says so",
    async (rule) => {
      const { gate, timer, events } = setUp({ busy: rule, classify: () => busy });
      for (let i = 0; i < 3000; i++) {
        await gate.run(() => 1, { wait: false }).catch(() => undefined);
        await timer.advance(1);
      }
      const refused = events.filter((event) => event.type === "refused");
      expect(refused.length).toBeGreaterThan(100);
      expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(["peer-busy"]));
      expect(events.some(({ type }) => type === "cut")).toBe(true);
      const waiting = gate.run(() => "served", { deadlineMs: 60_000 });
      await timer.advance(60_000);
      expect(await waiting).toBe("served");
      expect(timer.sleeping).toBe(0);
    },
  );

  test("is off beside an adaptive concurrency unless it is asked for", async () => {
    const { gate, events } = setUp({ concurrency: { algorithm: "vector" }, classify: () => busy });
    for (let i = 0; i < 1000; i++) await gate.run(() => 1);
    expect(events.some(({ type }) => type === "cut" || type === "refused")).toBe(false);
  });
});

/** A peer that answers everything with a pause. */
const busyFor = (pauseMs: number) => ({
  classify: () => ({ outcome: "busy", retriable: "safe", pauseMs }) as const,
});

describe("a pause that the peer asks for", () => {
  test("holds everybody, never ends early, and at most a tenth late", async () => {
    const { gate, timer, events } = setUp(busyFor(1000));
    await gate.run(() => 1);
    const startedAtMs: number[] = [];
    const next = gate.run(() => startedAtMs.push(timer.now()));
    expect(gate.why()).toMatchObject({ reason: "retry-after" });
    expect(gate.pausedForMs).toBeGreaterThanOrEqual(1000);
    await timer.advance(1100);
    await next;
    expect(startedAtMs[0]).toBeGreaterThanOrEqual(1000);
    expect(startedAtMs[0]).toBeLessThanOrEqual(1100);
    expect(events.filter(({ type }) => type === "paused")).toHaveLength(2);
  });

  test("refuses at once calls that cannot wait that long, also those in the queue", async () => {
    const { gate, timer } = setUp({ concurrency: 1, ...busyFor(1000) });
    const [first] = fill(gate, 1);
    const inLine = watch(gate.run(() => 1, { deadlineMs: 500 }));
    const patient = watch(gate.run(() => 1, { deadlineMs: 5000 }));
    first?.resolve("busy");
    await timer.advance(0);
    const newcomer = watch(gate.run(() => 1, { deadlineMs: 500 }));
    await timer.advance(0);
    expect(inLine.error).toMatchObject({ code: "THROTTLED", reason: "retry-after" });
    expect(newcomer.error).toMatchObject({ code: "THROTTLED", reason: "retry-after" });
    expect(patient).toEqual({});
  });

  test("is as long as the longest of several", () => {
    const { gate } = setUp();
    gate.pause(1000);
    gate.pause(10);
    expect(gate.pausedForMs).toBeGreaterThanOrEqual(1000);
    gate.pause(5000);
    expect(gate.pausedForMs).toBeGreaterThanOrEqual(5000);
  });

  test("can be ended by hand", async () => {
    const { gate, timer } = setUp();
    gate.pause(200_000);
    const call = watch(gate.run(() => "served"));
    gate.resume();
    await timer.advance(0);
    expect(call.value).toBe("served");
    expect(timer.sleeping).toBe(0);
  });
});

describe("results instead of exceptions", () => {
  test("tryRun tells a refusal apart from an error of the function", async () => {
    const { gate } = setUp({ concurrency: 1 });
    expect(await gate.tryRun(() => 1)).toEqual({ value: 1 });
    await expect(gate.tryRun(() => Promise.reject(new Error("own")))).rejects.toThrow("own");
    const inner = new ThrottledError("inner", { reason: "concurrency", retryAfterMs: 1 });
    await expect(gate.tryRun(() => Promise.reject(inner))).rejects.toBe(inner);
    fill(gate, 1);
    expect(await gate.tryRun(() => 1, { wait: false })).toMatchObject({ refused: "concurrency" });
  });

  test("acquire gives a permit that its holder ends, once", async () => {
    const { gate, timer, events } = setUp({ concurrency: 1 });
    const { permit } = await gate.acquire();
    const second = watch(gate.acquire({ deadlineMs: 10 }));
    expect(gate.tryAcquire()).toMatchObject({ refused: "concurrency" });
    await timer.advance(10);
    expect(second.value).toMatchObject({ refused: "concurrency" });
    permit?.end("ok");
    permit?.end("failed");
    expect(gate.inFlight).toBe(0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([{ outcome: "ok" }]);
  });

  test("a measured permit stays out until it ends", () => {
    const { gate, events } = setUp({ concurrency: 1 });
    const { permit } = gate.tryAcquire();
    permit?.measure("ok");
    expect(gate.inFlight).toBe(1);
    permit?.end("failed");
    expect(gate.inFlight).toBe(0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([{ outcome: "ok" }]);
  });

  test("a loose permit goes to who needs it, but not before its time", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    const { permit } = gate.tryAcquire();
    permit?.loosen(100);
    expect(timer.sleeping).toBe(0);
    const waiting = watch(gate.run(() => "served"));
    await timer.advance(99);
    expect(waiting).toEqual({});
    await timer.advance(1);
    expect(waiting.value).toBe("served");
    expect(permit?.hasEnded).toBe(true);
    expect(gate.inFlight).toBe(0);
    expect(timer.sleeping).toBe(0);
  });

  test("a permit that is loosened wakes who waited for it before", async () => {
    const { gate, timer } = setUp({ concurrency: 1 });
    const { permit } = gate.tryAcquire();
    const waiting = watch(gate.run(() => "served"));
    permit?.loosen(100);
    await timer.advance(99);
    expect(waiting).toEqual({});
    await timer.advance(1);
    expect(waiting.value).toBe("served");
    expect(timer.sleeping).toBe(0);
  });

  test("loose permits that nobody needs do not pile up", async () => {
    const { gate, timer } = setUp();
    let most = 0;
    for (let i = 0; i < 1000; i++) {
      gate.tryAcquire().permit?.loosen(100);
      most = Math.max(most, gate.inFlight);
      await timer.advance(10);
    }
    expect(most).toBeLessThanOrEqual(11);
  });
});

describe("close", () => {
  test("answers who waits and who comes, lets finish what runs, and leaves nothing", async () => {
    const { gate, timer } = setUp({ concurrency: 1, rate: "1/s" });
    const running = pending();
    const first = watch(gate.run(running.work, { deadlineMs: 60_000 }));
    const waiting = watch(gate.run(() => 1, { deadlineMs: 50_000 }));
    gate.close();
    gate.close();
    const newcomer = watch(gate.run(() => 1));
    await timer.advance(0);
    expect(waiting.error).toBeInstanceOf(ClosedError);
    expect(newcomer.error).toMatchObject({ code: "CLOSED" });
    expect(() => gate.tryAcquire()).toThrow(ClosedError);
    running.resolve("done");
    await timer.advance(0);
    expect(first.value).toBe("done");
    expect(timer.sleeping).toBe(0);
  });
});

describe("shadow", () => {
  test("lets everything through and reports what it would have refused", () => {
    const { gate, events } = setUp({ concurrency: 1, maxWaiting: 0, shadow: true });
    fill(gate, 3);
    expect(gate.inFlight).toBe(3);
    expect(events.filter(({ type }) => type === "refused")).toMatchObject([
      { reason: "concurrency", isShadow: true },
      { reason: "concurrency", isShadow: true },
    ]);
  });

  test.each<[string, CallOptions, object]>([
    ["who would wait as held", { deadlineMs: 200 }, { type: "held", reason: "rate" }],
    ["who would not wait as refused", { wait: false }, { type: "refused", refusedAt: "door" }],
    ["who would wait in vain as refused", { deadlineMs: 50 }, { refusedAt: "in-vain" }],
  ])("reports %s", async (_who, options, told) => {
    const { gate, events } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 1 }, shadow: true });
    expect(await gate.run(() => 1)).toBe(1);
    events.length = 0;
    expect(await gate.run(() => 2, options)).toBe(2);
    expect(events[0]).toMatchObject({ ...told, isShadow: true });
    expect(events.map(({ type }) => type).slice(1, 3)).toEqual(["admitted", "ended"]);
  });

  test("reports a permit that was wanted at once or not at all as refused", () => {
    const { gate, events } = setUp({ concurrency: 1, shadow: true });
    fill(gate, 1);
    expect(gate.tryAcquire().permit).toBeDefined();
    expect(events[1]).toMatchObject({ type: "refused", refusedAt: "door", isShadow: true });
  });
});

describe("observers", () => {
  test("see every decision with its reason", async () => {
    const { gate, timer, events } = setUp({ concurrency: 1, maxWaiting: 1 });
    void gate.run(() => timer.sleep(10));
    void gate.run(() => timer.sleep(10));
    gate.run(() => 1).catch(() => undefined);
    await timer.advance(20);
    const told = events.filter(({ type }) => type !== "limit");
    expect(told.map(({ type, atMs }) => [type, atMs])).toEqual([
      ["admitted", 0],
      ["held", 0],
      ["refused", 0],
      ["ended", 10],
      ["admitted", 10],
      ["ended", 20],
    ]);
    expect(told[4]).toMatchObject({ waitedMs: 10, limit: 1, inFlight: 1 });
  });

  test("count a permit as in flight until it has come back, however the attempt ended", async () => {
    const { gate, timer, events } = setUp({ concurrency: 5 });
    const { permit } = gate.tryAcquire({ weight: 2 });
    const hung = pending();
    const late = watch(gate.run(hung.work, { deadlineMs: 10 }));
    permit?.measure("ok");
    await timer.advance(10);
    permit?.end("ok");
    hung.resolve("too late");
    await timer.advance(0);
    expect(late.error).toBeInstanceOf(DeadlineError);
    const told = events.filter(({ type }) => type === "ended" || type === "returned");
    expect(told).toMatchObject([
      { type: "ended", outcome: "ok", inFlight: 3 },
      { type: "ended", outcome: "failed", inFlight: 3 },
      { type: "returned", heldMs: 10, inFlight: 1 },
      { type: "returned", heldMs: 10, inFlight: 0 },
    ]);
  });

  test("see who leaves the line unserved, and why", async () => {
    const { gate, events } = setUp({ concurrency: 1 });
    fill(gate, 1);
    const controller = new AbortController();
    const runs = [
      gate.run(() => 1, { signal: controller.signal }),
      gate.acquire({ signal: new AbortController().signal }),
    ];
    const settled = Promise.allSettled(runs);
    controller.abort();
    gate.close();
    await settled;
    expect(events.filter(({ type }) => type === "left")).toMatchObject([
      { leftBecause: "aborted" },
      { leftBecause: "closed" },
    ]);
  });

  test("see a pause that is ended by hand, if one was on", () => {
    const { gate, events } = setUp();
    gate.resume();
    gate.pause(1000);
    gate.resume();
    expect(events.map(({ type }) => type)).toEqual(["paused", "resumed"]);
  });

  test("see who was meant by a busy answer", async () => {
    const { gate, events } = setUp({
      classify: () => ({ outcome: "busy", retriable: "safe", scope: "over-quota" }),
    });
    await gate.run(() => 1);
    expect(events.at(-1)).toMatchObject({ type: "ended", outcome: "busy", scope: "over-quota" });
  });

  test("that throw or reject break nothing", async () => {
    const timer = new VirtualTimer();
    const seen: string[] = [];
    const gate = createGate({
      observers: [
        () => {
          throw new Error("observer");
        },
        () => Promise.reject(new Error("async observer")),
        ({ type }) => seen.push(type),
      ],
      runtime: { timer },
    });
    expect(await gate.run(() => 1)).toBe(1);
    expect(seen).toEqual(["admitted", "ended"]);
  });

  test("hear of limits that an algorithm sets", async () => {
    const { gate, timer, events } = setUp({ concurrency: { algorithm: "vector" } });
    for (let i = 0; i < 3; i++) {
      const run = gate.run(() => timer.sleep(10));
      await timer.advance(10);
      await run;
    }
    expect(events.some((event) => event.type === "limit" && event.decision.limit === 2)).toBe(true);
  });
});

test("a classifier of the caller's own decides, and its mistakes reach the caller", async () => {
  const { gate, events } = setUp({
    classify: (settled) => {
      if (!("value" in settled)) return undefined;
      if (settled.value === "mistake") throw new Error("classifier");
      return { outcome: "busy", retriable: "safe" };
    },
  });
  await gate.run(() => "whatever");
  await expect(gate.run(() => "mistake")).rejects.toThrow("classifier");
  await expect(gate.run(() => "mistake", { deadlineMs: 10 })).rejects.toThrow("classifier");
  expect(gate.inFlight).toBe(0);
  expect(events.filter(({ type }) => type === "ended")).toMatchObject([
    { outcome: "busy" },
    { outcome: "ignored" },
    { outcome: "ignored" },
  ]);
});

test.each<[GateOptions, RegExp]>([
  [{ concurrency: 0 }, /concurrency is 0/],
  [{ concurrency: "adaptve" as never }, /concurrency is "adaptve"/],
  [{ concurrency: { algorithm: "bbr" as never } }, /algorithm is "bbr"/],
  [{ concurrency: { algorithm: "vector", initialLimit: 300 } }, /initialLimit is 300/],
  [{ rate: "fast" }, /rate is "fast"/],
  [{ rate: { limit: 0, periodMs: 1000 } }, /limit is 0/],
  [{ busy: "yes" as never }, /busy is "yes"/],
  [{ maxWaiting: -1 }, /maxWaiting is -1/],
  [{ maxWaitng: 1 } as never, /no option "maxWaitng"/],
  [{ concurrency: { max: 5 } as never }, /concurrency has no option "max"/],
  [{ rate: { limit: 1, periodMs: 1, brust: 2 } as never }, /rate has no option "brust"/],
  [{ busy: { rul: "table" } as never }, /busy has no option "rul"/],
  [{ runtime: { clock: 1 } as never }, /runtime has no option "clock"/],
  [{ retry: { attemps: 2 } as never }, /retry has no option "attemps"/],
  [{ retry: { backoff: { base: 2 } as never } }, /backoff has no option "base"/],
  [{ retry: { budget: { ratioo: 2 } as never } }, /budget has no option "ratioo"/],
])("refuses %j and says why", (options, message) => {
  expect(() => createGate(options)).toThrow(message);
});

test.each<CallOptions>([
  { weight: 0 },
  { weight: 1.5 },
  { deadlineMs: -1 },
  { deadlineMs: Number.NaN },
  { priority: Number.NaN },
  { deadline: 5 } as never,
])("rejects a call with %j, retried or not", async (options) => {
  for (const retry of [{}, { retry: {} }]) {
    const run = createGate(retry).run(() => 1, options);
    await expect(run).rejects.toMatchObject({ code: "CONFIG" });
  }
});

// A blocked event loop: time has passed, and the alarm of the deadline has not rung yet.
test("a call whose deadline has passed is not started any more when a permit comes back", async () => {
  const { gate, timer } = setUp({ concurrency: 1 });
  const first = await gate.acquire();
  const started: number[] = [];
  const late = gate.run(() => started.push(timer.now()), { deadlineMs: 50 });
  const refused = late.catch((error: unknown) => error);
  const real = timer.now.bind(timer);
  timer.now = () => real() + 300;
  first.permit?.end({ outcome: "ok", retriable: "never" });
  expect(await refused).toBeInstanceOf(ThrottledError);
  expect(started).toEqual([]);
  timer.now = real;
});

test("all whose deadline has passed are passed over, and who is still in time comes next", async () => {
  const { gate, timer, events } = setUp({ rate: { limit: 10, periodMs: 1000, burst: 1 } });
  await gate.run(() => 1);
  const started: string[] = [];
  const late = [
    watch(gate.run(() => started.push("late"), { deadlineMs: 150 })),
    watch(gate.run(() => started.push("later"), { deadlineMs: 250 })),
  ];
  const patient = watch(gate.run(() => started.push("patient"), { deadlineMs: 1000 }));
  const real = timer.now.bind(timer);
  timer.now = () => real() + 300;
  // Any reason to look at the line will do.
  gate.resume();
  await timer.advance(0);
  expect(started).toEqual(["patient"]);
  expect(patient.value).toBe(1);
  for (const { error } of late) expect(error).toBeInstanceOf(ThrottledError);
  const refused = events.filter((event) => event.type === "refused");
  expect(refused.map(({ refusedAt }) => refusedAt)).toEqual(["deadline", "deadline"]);
  timer.now = real;
  expect(timer.sleeping).toBe(0);
});

test("a call whose deadline has passed when it comes is not started", async () => {
  const { gate, timer, events } = setUp();
  const started: number[] = [];
  const run = gate.run(() => started.push(timer.now()), { deadlineMs: 0 });
  await expect(run).rejects.toBeInstanceOf(ThrottledError);
  expect(started).toEqual([]);
  expect(events).toMatchObject([{ type: "refused", refusedAt: "deadline" }]);
  expect((await gate.acquire({ deadlineMs: 0 })).permit).toBeDefined();
});

test("a signal that many calls share, in the queue and running, gets one listener", async () => {
  const { gate, timer } = setUp({ concurrency: 10 });
  const { signal } = new AbortController();
  const runs = Array.from({ length: 20 }, () => gate.run(() => timer.sleep(10), { signal }));
  expect([gate.inFlight, gate.waiting]).toEqual([10, 10]);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await timer.advance(20);
  await Promise.all(runs);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test.each([{}, { deadlineMs: 100 }])(
  "a permit comes back when what is built on the gate fails to keep it, with %j",
  async (options) => {
    const { gate } = setUp({ concurrency: 1 });
    await expect(gate.runHooked(() => 1, options, { keep: fail })).rejects.toThrow(
      "cannot be kept",
    );
    expect(gate.inFlight).toBe(0);
  },
);

function fail(): never {
  throw new Error("cannot be kept");
}

describe("what a program without types may pass", () => {
  test.each([
    ["a promise", Promise.resolve({ outcome: "ok" })],
    ["no outcome", { retriable: "never" }],
    ["a word", "ok"],
    ["null", null],
  ])("classify that answers %s is an error, and its permit comes back", async (_, answered) => {
    // @ts-expect-error: none of these is a verdict.
    const gate = createGate({ concurrency: 1, classify: () => answered });
    await expect(gate.run(() => 1)).rejects.toThrow(/^classify gave .*; use \{ outcome/);
    expect(gate.inFlight).toBe(0);
  });

  test("a permit that is ended with an unknown outcome says so, and can still be ended", () => {
    const gate = createGate({ concurrency: 1 });
    const { permit } = gate.tryAcquire();
    // @ts-expect-error: the outcome is missing.
    expect(() => permit?.end()).toThrow(/ended with undefined; use "ok", "busy"/);
    // @ts-expect-error: there is no such outcome.
    expect(() => permit?.end("success")).toThrow(/ended with "success"/);
    permit?.end("ok");
    expect(gate.inFlight).toBe(0);
  });

  test("run with a promise instead of a function says that the call has begun already", async () => {
    const gate = createGate({ concurrency: 1, retry: 3 });
    // @ts-expect-error: a promise is no function.
    const mistaken = gate.run(Promise.reject(new Error("no route to host")));
    await expect(mistaken).rejects.toThrow(/given a promise.*use gate\.run\(\(\) => fetch/);
    // @ts-expect-error: nothing is no function.
    await expect(gate.run()).rejects.toThrow(/run was given undefined; give it the function/);
    expect(gate.inFlight).toBe(0);
  });

  test.each([
    ["5", 5],
    ["a promise", Promise.resolve({ cost: { tokens: 1 } })],
    ["null", null],
  ])("call options that are %s are an error: no cost is passed over", async (shown, options) => {
    for (const retry of [undefined, 3]) {
      const gate = createGate({ rates: { tokens: "1000/s" }, ...(retry && { retry }) });
      // @ts-expect-error: none of these has options.
      const mistaken = gate.run(() => 1, options);
      await expect(mistaken).rejects.toThrow(`the options of a call are ${shown};`);
    }
  });

  test("a list of rates, and a concurrency of null, are errors that show what is expected", () => {
    // @ts-expect-error: rates have names.
    expect(() => createGate({ rates: ["10/s"] })).toThrow(/rates are a list; use .* requests/);
    // @ts-expect-error: null is no setting.
    expect(() => createGate({ concurrency: null })).toThrow(/"adaptive", "none", a number/);
  });
});

test("a wrapped method is called on its object, with its arguments and their cost", async () => {
  const { gate } = setUp({ rates: { tokens: { rate: "1000/s", burst: 10 } } });
  const counter = { base: 2, add: gate.wrap(add, (more) => ({ cost: { tokens: more } })) };
  expect(await counter.add(10)).toBe(12);
  expect(gate.why()).toMatchObject({ rate: "tokens", leftMs: 1 });
});

function add(this: { readonly base: number }, more: number): number {
  return this.base + more;
}
