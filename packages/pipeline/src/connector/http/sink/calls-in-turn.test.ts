import { expect, test } from "vitest";
import { CallsInTurn } from "./calls-in-turn.ts";

test("begins 16 calls, then one for each that starts, in their order", () => {
  const begun: number[] = [];
  const calls = new CallsInTurn(20, (index) => begun.push(index));
  calls.run();
  expect(begun).toEqual(Array.from({ length: 16 }, (_, index) => index));
  calls.onStarted();
  calls.onStarted();
  expect(begun.slice(16)).toEqual([16, 17]);
  for (let call = 0; call < 18; call++) calls.onStarted();
  expect(begun).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test("calls that start at once are begun one after another, not within each other", () => {
  let depth = 0;
  let count = 0;
  const calls = new CallsInTurn(100_000, () => {
    expect(++depth).toBe(1);
    count++;
    calls.onStarted();
    depth--;
  });
  calls.run();
  expect(count).toBe(100_000);
});
