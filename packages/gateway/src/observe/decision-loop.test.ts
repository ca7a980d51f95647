import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import type { BrokerEvent } from "./broker-event.ts";
import { DecisionLoop } from "./decision-loop.ts";
import { NOTHING_WAITS } from "./waiting.ts";
import type { WaitingSnapshot } from "./waiting.ts";

const PAUSED: WaitingSnapshot = {
  topics: [],
  connections: [{ address: "127.0.0.1:9", reason: "memory", sinceMs: 0 }],
};

test("the loop looks only while something waits or a wait is to be ended", async () => {
  const timer = new VirtualTimer();
  const events: BrokerEvent["kind"][] = [];
  let waiting = PAUSED;
  let looks = 0;
  const loop = new DecisionLoop({
    timer,
    snapshot: () => {
      looks++;
      return waiting;
    },
    observe: ({ kind }) => events.push(kind),
  });
  await timer.advance(1_000);
  expect(looks).toBe(0);
  loop.poke();
  loop.poke();
  await timer.advance(500);
  expect([looks, events]).toEqual([5, ["socket-paused"]]);
  waiting = NOTHING_WAITS;
  await timer.advance(5_000);
  expect(events).toEqual(["socket-paused", "socket-resumed"]);
  expect(looks).toBeLessThan(20);
  const before = looks;
  loop.poke();
  await timer.advance(1_000);
  expect(looks).toBe(before + 1);
  loop.poke();
  loop.close();
  await timer.advance(1_000);
  expect(looks).toBe(before + 1);
});
