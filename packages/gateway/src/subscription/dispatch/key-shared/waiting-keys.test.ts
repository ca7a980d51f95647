import { expect, test } from "vitest";
import { WaitingKeys } from "./waiting-keys.ts";
import type { WaitingEntry } from "./waiting-keys.ts";
import { cpuMs } from "../../../../test/cpu-time.ts";

function entryOf(entryId: number): WaitingEntry {
  return { position: { ledgerId: 0, entryId }, keyHash: entryId % 1_000, redeliveryCount: 0 };
}

test("entries come in the order of the log, whatever order they were added in", () => {
  const waiting = new WaitingKeys();
  const taken: number[] = [];
  for (const entryIds of [[5, 1, 9], [3], [8, 0, 7, 2], [6, 4]])
    for (const entryId of entryIds) waiting.add(entryOf(entryId));
  for (let rounds = 0; waiting.length > 0; rounds++) {
    const [first, ...others] = waiting.takeRun(3, () => true);
    for (const other of others) waiting.putBack(other);
    if (first !== undefined) taken.push(first.position.entryId);
  }
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

/** Each question went through all entries once: 500 of them took 8 s after a consumer had left. */
test("taking one entry at a time from 200,000 that wait takes milliseconds", () => {
  const waiting = new WaitingKeys();
  for (let entryId = 0; entryId < 200_000; entryId++) waiting.add(entryOf(entryId));
  waiting.takeRun(1, () => true);
  const startMs = cpuMs();
  for (let count = 0; count < 500; count++) {
    waiting.forget(() => false);
    const [first, second] = waiting.takeRun(2, () => true);
    if (first !== undefined) waiting.settle(first);
    if (second !== undefined) waiting.putBack(second);
  }
  // 60 ms on a loaded machine.
  expect(cpuMs() - startMs).toBeLessThan(1_000);
  expect(waiting.length).toBe(200_000 - 501);
});
