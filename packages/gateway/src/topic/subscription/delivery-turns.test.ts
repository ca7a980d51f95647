import { nextTurn } from "@sluice/core/system";
import { expect, test } from "vitest";
import { DeliveryTurns } from "./delivery-turns.ts";

test("many subscriptions that wake at once share turns of the event loop", async () => {
  const clock = { ms: 0, now: () => clock.ms };
  const turns = new DeliveryTurns(clock, nextTurn, { turnMs: 4 });
  const order: string[] = [];
  const deliver = async (name: number): Promise<void> => {
    await Promise.resolve();
    const turn = turns.wait();
    if (turn !== undefined) await turn;
    clock.ms += 1;
    order.push(`${name}`);
  };
  const all = Array.from({ length: 10 }, (_, name) => deliver(name));
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn();
    order.push("turn");
  }
  await Promise.all(all);
  // Nobody overtakes, and no more than four, of a millisecond each, work between two turns.
  expect(order.filter((each) => each !== "turn")).toEqual(
    Array.from({ length: 10 }, (_, name) => `${name}`),
  );
  const longest = Math.max(
    ...order
      .join("")
      .split("turn")
      .map(({ length }) => length),
  );
  expect(longest).toBeLessThanOrEqual(5);
});

test("a subscription that is alone works at once", () => {
  const turns = new DeliveryTurns({ now: () => 0 }, nextTurn, { turnMs: 4 });
  expect(turns.wait()).toBeUndefined();
});
