import { expect, test } from "vitest";
import { LimitLevel } from "../../ingress/limits/limit-level.ts";
import type { WaitingTopic } from "../../observe/waiting.ts";
import { withTold } from "./ingress-throttling.ts";

const ORDERS = "persistent://public/default/orders";

function level(): LimitLevel {
  const one = new LimitLevel("topic", "topic-rate");
  one.setLimit({ messages: 1_000 }, 0);
  return one;
}

function told(producer: string): Parameters<typeof withTold>[1][number] {
  const facts = { topic: ORDERS, producer, address: "127.0.0.1:1" };
  return { facts, level: level(), toldAtMs: 1_000, untilMs: 1_619, receiptAfterMs: 11 };
}

const HELD: WaitingTopic = {
  reason: "topic-rate",
  topic: ORDERS,
  limiter: "topic",
  limit: { messages: 1_000 },
  producers: [
    { name: "feed", address: "127.0.0.1:1", isAware: true, heldFrames: 3, heldBytes: 300 },
  ],
  others: 0,
  sinceMs: 500,
};

test("a producer that pauses because it was told waits, although nothing of it is held", () => {
  expect(withTold([], [told("feed")])).toEqual([
    {
      ...HELD,
      sinceMs: 1_000,
      producers: [
        {
          name: "feed",
          address: "127.0.0.1:1",
          isAware: true,
          heldFrames: 0,
          heldBytes: 0,
          told: { pauseMs: 619, receiptAfterMs: 11 },
        },
      ],
    },
  ]);
});

test("a producer that is held and was told is one", () => {
  const [topic, ...others] = withTold([HELD], [told("feed"), told("shop")]);
  expect(others).toEqual([]);
  expect(topic?.sinceMs).toBe(500);
  expect(topic?.producers).toMatchObject([
    { name: "feed", heldFrames: 3, told: { pauseMs: 619 } },
    { name: "shop", heldFrames: 0, told: { pauseMs: 619 } },
  ]);
});

test("of a thousand told producers twenty are listed and the rest counted", () => {
  const all = Array.from({ length: 1_000 }, (_, i) => told(`p${i}`));
  const [topic] = withTold([], all);
  expect([topic?.producers.length, topic?.others]).toEqual([20, 980]);
});
