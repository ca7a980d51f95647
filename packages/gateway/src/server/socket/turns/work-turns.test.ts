import { nextTurn } from "@sluice/core/system";
import { expect, test } from "vitest";
import { WorkTurns } from "./work-turns.ts";
import type { Worker } from "./work-turns.ts";

/** A clock that each unit of work moves by a millisecond. */
function world() {
  let nowMs = 0;
  const log: string[] = [];
  const turns = new WorkTurns({ now: () => nowMs }, nextTurn, { sliceMs: 2, turnMs: 6 });
  const worker = (name: string, units: number, isBrief = false): Worker => ({
    isBrief,
    work(isOver) {
      for (; units > 0; units--) {
        if (isOver()) return true;
        nowMs++;
        log.push(name);
      }
      return false;
    },
  });
  return { turns, log, worker, pass: (ms: number) => (nowMs += ms) };
}

test("a worker works at once, but no longer than its slice before the others", async () => {
  const { turns, log, worker } = world();
  turns.run(worker("a", 5));
  expect(log.join("")).toBe("aa");
  turns.run(worker("b", 1));
  expect(log.join("")).toBe("aab");
  await nextTurn();
  await nextTurn();
  await nextTurn();
  expect(log.join("")).toBe("aabaaa");
});

test("workers with much to do take turns", async () => {
  const { turns, log, worker } = world();
  turns.run(worker("a", 4));
  turns.run(worker("b", 4));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(log.join("")).toBe("aabbaabb");
});

test("what a turn of the event loop has no time for waits, before those that have had a slice", async () => {
  const { turns, log, worker } = world();
  for (const name of ["a", "b", "c"]) turns.run(worker(name, 3));
  turns.run(worker("d", 1));
  expect(log.join("")).toBe("aabbcc");
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(log.join("")).toBe("aabbccdabc");
});

test("brief workers go before those that wait, and one in nine turns is for the others", async () => {
  const { turns, log, worker } = world();
  for (const name of ["a", "b", "c"]) turns.run(worker(name, 3));
  for (const name of ["d", "e"]) turns.run(worker(name, 1));
  for (let count = 0; count < 12; count++) turns.run(worker("-", 1, true));
  expect(log.join("")).toBe("aabbcc");
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  expect(log.join("")).toBe("aabbcc--------d----eabc");
});
