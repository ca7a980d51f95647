import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BrokerEvent } from "./broker-event.ts";
import { DecisionWatch } from "./decision-watch.ts";
import { describeEvent } from "./describe-event.ts";
import { evenTurn, NOTHING_WAITS } from "./waiting.ts";
import type { WaitingProducer, WaitingSnapshot, WaitingTopic } from "./waiting.ts";

const ORDERS = "persistent://public/default/orders";

function producer(name: string, more: Partial<WaitingProducer> = {}): WaitingProducer {
  return { name, address: "127.0.0.1:9", isAware: false, heldFrames: 3, heldBytes: 300, ...more };
}

function waiting(sinceMs: number, more: Partial<WaitingTopic> = {}): WaitingSnapshot {
  const topic: WaitingTopic = {
    reason: "topic-rate",
    topic: ORDERS,
    limiter: "topic",
    limit: { messages: 1_000 },
    producers: [producer("bulk", { asked: 2_000 }), producer("feed", { asked: 600 })],
    others: 0,
    sinceMs,
    ...more,
  };
  return { topics: [topic], connections: [] };
}

function paused(sinceMs: number): WaitingSnapshot {
  const connection = {
    address: "127.0.0.1:9",
    reason: "topic-rate",
    topic: ORDERS,
    sinceMs,
  } as const;
  return { topics: [], connections: [connection] };
}

describe("a topic that waits", () => {
  test("is told once, after 100 ms, with the producer that asks most and the turn of each", () => {
    const watch = new DecisionWatch();
    expect(watch.look(waiting(0), 50)).toEqual([]);
    expect(watch.look(waiting(0), 100)).toEqual([
      {
        kind: "publish-throttled",
        topic: ORDERS,
        reason: "topic-rate",
        limiter: "topic",
        limit: { messages: 1_000 },
        producers: 2,
        heldFrames: 6,
        becauseOf: { producer: "bulk", asked: 2_000 },
        turn: 500,
      },
    ]);
    expect(watch.look(waiting(0), 200)).toEqual([]);
  });

  test("waits no more after a second without it", () => {
    const watch = new DecisionWatch();
    watch.look(waiting(0), 100);
    expect(watch.look(NOTHING_WAITS, 1_099)).toEqual([]);
    // It began again in the meantime: the same wait goes on.
    expect(watch.look(waiting(1_090), 1_100)).toEqual([]);
    expect(watch.look(NOTHING_WAITS, 2_099)).toEqual([]);
    const ended = {
      kind: "publish-resumed",
      topic: ORDERS,
      reason: "topic-rate",
      limiter: "topic",
    };
    expect(watch.look(NOTHING_WAITS, 2_100)).toEqual([{ ...ended, afterMs: 1_100 }]);
    expect(watch.isFollowing).toBe(false);
  });

  test("for less than 100 ms is not told at all", () => {
    const watch = new DecisionWatch();
    watch.look(waiting(0), 99);
    expect(watch.look(NOTHING_WAITS, 5_000)).toEqual([]);
    expect(watch.isFollowing).toBe(false);
  });

  test("for two limiters is told for each", () => {
    const watch = new DecisionWatch();
    const both = [
      ...waiting(0).topics,
      ...waiting(0, { limiter: "broker", reason: "broker-rate" }).topics,
    ];
    const events = watch.look({ topics: both, connections: [] }, 100);
    expect(events.map((event) => "limiter" in event && event.limiter)).toEqual(["topic", "broker"]);
  });
});

test("an aware producer is told of once for a wait, at once", () => {
  const watch = new DecisionWatch();
  const told = producer("feed", { isAware: true, told: { pauseMs: 619, receiptAfterMs: 11 } });
  const event = { kind: "producer-told", topic: ORDERS, reason: "topic-rate", producer: "feed" };
  const first = watch.look(waiting(0, { producers: [told] }), 10);
  expect(first).toEqual([{ ...event, pauseMs: 619, receiptAfterMs: 11 }]);
  expect(watch.look(waiting(0, { producers: [told] }), 110)).toHaveLength(1);
  expect(watch.look(waiting(0, { producers: [told] }), 210)).toEqual([]);
});

test("a paused socket names the topic that caused it", () => {
  const watch = new DecisionWatch();
  const facts = { address: "127.0.0.1:9", reason: "topic-rate", topic: ORDERS };
  expect(watch.look(paused(0), 100)).toEqual([{ kind: "socket-paused", ...facts }]);
  expect(watch.look(NOTHING_WAITS, 1_100)).toEqual([
    { kind: "socket-resumed", ...facts, afterMs: 100 },
  ]);
});

test("however a limit flaps, each beginning has one end, and neither comes twice in a second", () => {
  const steps = fc.array(
    fc.record({ stepMs: fc.integer({ min: 1, max: 400 }), isWaiting: fc.boolean() }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(steps, (given) => {
      const watch = new DecisionWatch();
      const told: { readonly atMs: number; readonly kind: BrokerEvent["kind"] }[] = [];
      let [nowMs, sinceMs] = [0, 0];
      let was = false;
      for (const { stepMs, isWaiting } of [...given, { stepMs: 2_000, isWaiting: false }]) {
        nowMs += stepMs;
        if (isWaiting && !was) sinceMs = nowMs;
        was = isWaiting;
        const snapshot = isWaiting ? waiting(sinceMs) : NOTHING_WAITS;
        for (const { kind } of watch.look(snapshot, nowMs)) told.push({ atMs: nowMs, kind });
      }
      for (const [index, { kind, atMs }] of told.entries()) {
        expect(kind).toBe(index % 2 === 0 ? "publish-throttled" : "publish-resumed");
        const next = told[index + 1];
        if (kind === "publish-throttled")
          expect(next && next.atMs - atMs).toBeGreaterThanOrEqual(1_000);
      }
      expect(watch.isFollowing).toBe(false);
    }),
  );
});

test("sentences have the numbers, and leave out what is not known", () => {
  const watch = new DecisionWatch();
  const [throttled] = watch.look(waiting(0), 100);
  expect(describeEvent(throttled as BrokerEvent)).toBe(
    `2 producers of ${ORDERS} wait for its limit of 1,000/s; bulk asks for at least 2,000/s, 4.0 × its even turn`,
  );
  const unknown = waiting(0, {
    limiter: "group bulk",
    limit: { bytes: 1e7 },
    producers: [producer("a")],
  });
  const [other] = watch.look(unknown, 200);
  expect(describeEvent(other as BrokerEvent)).toBe(
    `1 producer of ${ORDERS} waits for the limit of group bulk of 10 MB/s`,
  );
});

test("even turns never add up to more than the limit, and nobody gets more than it asks", () => {
  const asks = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), asks, (limit, asked) => {
      const turn = evenTurn(limit, asked);
      const total = asked.reduce((sum, one) => sum + Math.min(one, turn ?? Infinity), 0);
      expect(total).toBeLessThanOrEqual(limit + 1e-6);
      if (turn === undefined) expect(total).toBe(asked.reduce((sum, one) => sum + one, 0));
      else expect(total).toBeGreaterThan(limit - 1e-6);
    }),
  );
});
