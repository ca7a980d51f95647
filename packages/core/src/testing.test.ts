import { expect, test } from "vitest";
import { VirtualClock, VirtualTimer } from "./testing.ts";

/** A timer, and a log of which sleeper woke when. */
function setUp() {
  const timer = new VirtualTimer();
  const log: string[] = [];
  const sleeper = async (name: string, ms: number, signal?: AbortSignal): Promise<void> => {
    try {
      await timer.sleep(ms, signal);
      log.push(`${timer.now()} ${name}`);
    } catch (error) {
      log.push(`${timer.now()} ${name} ${String(error)}`);
    }
  };
  return { timer, log, sleeper };
}

test("nanoseconds add up on a clock that has run for a year", () => {
  const clock = new VirtualClock();
  const yearMs = 365 * 86_400_000;
  clock.advance(yearMs);
  for (let i = 0; i < 1_000_000; i++) clock.advance(0.000001);
  expect(clock.now()).toBe(yearMs + 1);
});

test("sleepers wake when due, those due at once in the order they came", async () => {
  const { timer, log, sleeper } = setUp();
  const asleep = [sleeper("b", 20), sleeper("a", 10), sleeper("c", 20), sleeper("late", 31)];
  await timer.advance(30);
  expect(log).toEqual(["10 a", "20 b", "20 c"]);
  expect([timer.now(), timer.sleeping]).toEqual([30, 1]);
  await timer.advance(1);
  await Promise.all(asleep);
  expect([log.at(-1), timer.sleeping]).toEqual(["31 late", 0]);
});

test("a sleeper that sleeps again during an advance wakes in it", async () => {
  const { timer, log, sleeper } = setUp();
  const twice = sleeper("first", 10).then(() => sleeper("second", 10));
  const other = sleeper("between", 15);
  await timer.advance(20);
  await Promise.all([twice, other]);
  expect(log).toEqual(["10 first", "15 between", "20 second"]);
});

test("a sleep that was aborted before it began ends at once and leaves nothing", async () => {
  const { timer, log, sleeper } = setUp();
  await sleeper("a", 10, AbortSignal.abort("stop"));
  expect([log, timer.sleeping]).toEqual([["0 a stop"], 0]);
});

test("a sleep that is aborted ends there and leaves nothing", async () => {
  const { timer, log, sleeper } = setUp();
  const controller = new AbortController();
  const asleep = [sleeper("a", 10, controller.signal), sleeper("b", 10)];
  await timer.advance(5);
  controller.abort("stop");
  expect(timer.sleeping).toBe(1);
  await timer.advance(5);
  await Promise.all(asleep);
  expect(log).toEqual(["5 a stop", "10 b"]);
});

test("an abort after the sleep changes nothing", async () => {
  const { timer, log, sleeper } = setUp();
  const controller = new AbortController();
  const asleep = [sleeper("a", 10, controller.signal), sleeper("b", 20)];
  await timer.advance(10);
  controller.abort("stop");
  await timer.advance(10);
  await Promise.all(asleep);
  expect(log).toEqual(["10 a", "20 b"]);
});

test("overlapping advances add up, and each ends where its own time has passed", async () => {
  const { timer, log, sleeper } = setUp();
  const asleep = [sleeper("a", 5), sleeper("b", 15), sleeper("c", 30)];
  const ends: number[] = [];
  const advance = async (ms: number): Promise<void> => {
    await timer.advance(ms);
    ends.push(timer.now());
  };
  await Promise.all([advance(10), advance(20), ...asleep]);
  expect([log, ends]).toEqual([
    ["5 a", "15 b", "30 c"],
    [10, 30],
  ]);
});
