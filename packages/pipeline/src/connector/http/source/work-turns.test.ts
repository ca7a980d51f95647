import { nextTurn } from "@sluice/core/system";
import { expect, test } from "vitest";
import { WorkTurns } from "./work-turns.ts";

/** A clock that work moves on. */
function scene() {
  let nowMs = 0;
  const turns = new WorkTurns({ now: () => nowMs });
  const done: number[] = [];
  const start = (count: number, workMs: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        turns.run(() => {
          nowMs += workMs;
          done.push(index);
          return index;
        }),
      ),
    );
  return { turns, done, start };
}

test("work that comes at once is spread over turns of the event loop, in its order", async () => {
  const { done, start } = scene();
  const all = start(20, 6);
  expect(done).toHaveLength(1);
  let most = 0;
  while (done.length < 20) {
    const before = done.length;
    await nextTurn();
    most = Math.max(most, done.length - before);
  }
  // 6 + 6 ms are more than a turn's 10 ms.
  expect(most).toBe(2);
  expect(await all).toEqual(done);
  expect(done).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test("work that fails rejects alone", async () => {
  const { turns, start } = scene();
  const failed = turns.run(() => {
    throw new Error("no JSON");
  });
  const others = start(3, 1);
  await expect(failed).rejects.toThrow("no JSON");
  expect(await others).toEqual([0, 1, 2]);
});
