import fc from "fast-check";
import { expect, test } from "vitest";
import { EventLoop } from "./event-loop.ts";
import type { Scheduled } from "./event-loop.ts";

const nothing = (): void => undefined;

function runAll(loop: EventLoop, untilMs = 1e9): void {
  loop.run(untilMs, nothing, () => false);
}

test("events run by time, then in the order they were scheduled, but for those cancelled", () => {
  const event = fc.record({ atMs: fc.nat(50), isCancelled: fc.boolean() });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 3000, size: "max" }), (events) => {
      const loop = new EventLoop({ timerQuantumMs: 0 });
      const ran: number[] = [];
      const scheduled = events.map(({ atMs }, i) => loop.at(atMs, () => ran.push(i)));
      for (const [i, each] of scheduled.entries()) if (events[i]?.isCancelled) loop.cancel(each);
      runAll(loop);
      const expected = events
        .map(({ atMs, isCancelled }, i) => ({ atMs, isCancelled, i }))
        .filter(({ isCancelled }) => !isCancelled)
        .toSorted((a, b) => a.atMs - b.atMs)
        .map(({ i }) => i);
      expect(ran).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

test("no instant is run for a cancelled event", () => {
  const loop = new EventLoop({ timerQuantumMs: 0 });
  const instants: number[] = [];
  loop.cancel(loop.at(5, nothing));
  loop.at(7, nothing);
  loop.run(
    100,
    () => instants.push(loop.now()),
    () => false,
  );
  expect(instants).toEqual([7]);
});

test("cancelled timeouts are not kept, even if there are more of them than may be pending", () => {
  const loop = new EventLoop({ timerQuantumMs: 0 });
  let left = 4_000_000;
  let timeout: Scheduled | undefined;
  const next = (): void => {
    if (timeout !== undefined) loop.cancel(timeout);
    if (left-- === 0) return;
    timeout = loop.after(1e8, nothing);
    loop.after(1, next);
  };
  next();
  runAll(loop);
  expect(left).toBe(-1);
});

test("events after the end are not kept, however many there are", () => {
  const loop = new EventLoop({ timerQuantumMs: 0, endMs: 1000 });
  for (let i = 0; i < 3_100_000; i++) loop.at(1000 + i, nothing);
  let ran = 0;
  loop.at(999, () => ran++);
  runAll(loop);
  expect([ran, loop.now()]).toEqual([1, 999]);
});

test("more pending events than can be kept are refused with a reason", () => {
  const loop = new EventLoop({ timerQuantumMs: 0 });
  const fill = (): void => {
    for (let i = 0; i < 3_100_000; i++) loop.at(10 + i, nothing);
  };
  expect(fill).toThrow(/too much is under way: .*3000000 events.* gave up 0 s into the run/);
});

test("events that take no time are given up instead of standing still", () => {
  const loop = new EventLoop({ timerQuantumMs: 0 });
  const again = (): void => void loop.after(0, again);
  loop.at(2000, again);
  expect(() => runAll(loop)).toThrow(
    /time stands still: more than 5000000 events at one instant; gave up 2 s into the run/,
  );
});
