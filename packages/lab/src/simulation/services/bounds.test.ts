import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { EventLoop } from "../engine/event-loop.ts";
import { QueueingService } from "./queueing-service.ts";
import { Arrivals } from "./service.ts";

const nothing = (): void => undefined;

test("more than three million arrivals within a second are refused with a reason", () => {
  const arrivals = new Arrivals();
  const enter = (from: number, count: number): void => {
    for (let i = 0; i < count; i++) arrivals.enter(from);
  };
  enter(0, 3_000_000);
  // A second later the first ones have left the window.
  enter(1000, 3_000_000);
  expect(() => enter(1999, 1)).toThrow(
    /more than 3000000 attempts .*gave up 1\.999 s into the run/,
  );
});

test("a queue without a bound is given up beyond three million attempts", () => {
  const loop = new EventLoop({ timerQuantumMs: 0 });
  const service = new QueueingService(loop, new SeededRandom(1), {
    workers: 0,
    serviceMs: 1,
    distribution: "constant",
    cv: 1,
    queue: undefined,
    rejectMs: 1,
    schedule: [],
  });
  const arrive = (): void => {
    for (let i = 0; i < 1_000_000; i++) service.arrive(nothing);
  };
  for (const atMs of [0, 1000, 2000, 3000]) loop.at(atMs, arrive);
  const run = (): void => loop.run(1e9, nothing, () => false);
  expect(run).toThrow(/more than 3000000 attempts wait in the service; gave up 3 s into the run/);
});
