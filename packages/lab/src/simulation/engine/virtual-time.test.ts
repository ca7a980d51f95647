import { expect, test } from "vitest";
import { VirtualTime } from "./virtual-time.ts";

test("every promise that an event settles is heard before the next event of the same instant", async () => {
  const time = new VirtualTime();
  const heard: string[] = [];
  const hear = async (name: string): Promise<void> => {
    for (let hop = 0; hop < 20; hop++) await Promise.resolve();
    heard.push(name);
  };
  time.at(5, () => void hear("first").then(() => hear("first again")));
  time.at(5, () => void heard.push("second"));
  await time.runUntil(10);
  expect(heard).toEqual(["first", "first again", "second"]);
});

test("a sleep ends at its instant, an aborted one at once and without a trace", async () => {
  const time = new VirtualTime();
  const ends: unknown[] = [];
  const giveUp = new AbortController();
  void time.sleep(250).then(() => ends.push(time.now()));
  void time.sleep(100, giveUp.signal).catch((why: unknown) => ends.push([why, time.now()]));
  time.at(40, () => giveUp.abort("enough"));
  await expect(time.sleep(1, AbortSignal.abort("before"))).rejects.toBe("before");
  await time.runUntil(1_000);
  expect(ends).toEqual([["enough", 40], 250]);
});

test("a sleeper that is woken a rounding error before its time does not stop time", async () => {
  const time = new VirtualTime();
  const WAIT_MS = 5_000;
  // The sum is rounded down, so that the difference is less than what was added.
  const starts = Array.from({ length: 1_000 }, (_, i) => 4_800 + Math.sin(i));
  const sinceMs = starts.find((each) => each + WAIT_MS - each < WAIT_MS) ?? 0;
  expect(sinceMs).toBeGreaterThan(0);
  let wakes = 0;
  const watch = async (): Promise<void> => {
    while (time.now() - sinceMs < WAIT_MS && wakes < 100) {
      await time.sleep(sinceMs + WAIT_MS - time.now());
      wakes++;
    }
  };
  time.at(sinceMs, () => void watch());
  await time.runUntil(10_000);
  expect(wakes).toBe(2);
});

test("a turn is over at the same instant, after what was planned before it", async () => {
  const time = new VirtualTime();
  const order: string[] = [];
  time.at(7, () => {
    time.after(0, () => order.push("planned"));
    void time.nextTurn().then(() => order.push(`turn at ${time.now()}`));
  });
  await time.runUntil(8);
  expect(order).toEqual(["planned", "turn at 7"]);
});

test("a run stops before its end if it is told to, and goes on later", async () => {
  const time = new VirtualTime();
  let count = 0;
  const again = (): void => {
    count++;
    time.after(1, again);
  };
  time.at(0, again);
  await time.runUntil(1_000, () => count === 10);
  expect([count, time.now()]).toEqual([10, 9]);
  await time.runUntil(20);
  expect([count, time.now()]).toEqual([20, 19]);
});
