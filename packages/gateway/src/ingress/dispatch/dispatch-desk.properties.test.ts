import fc from "fast-check";
import { expect, test } from "vitest";
import { always, DispatchWorld } from "../../../test/dispatch-world.ts";
import type { SimulatedConsumer } from "../../../test/dispatch-world.ts";
import { DispatchDesk } from "./dispatch-desk.ts";
import { DispatchLimits } from "./dispatch-limits.ts";

const TOPICS = ["persistent://public/default/a", "persistent://public/default/b"] as const;

const config = fc.record({
  rate: fc.integer({ min: 1, max: 2_000 }),
  periodMs: fc.constantFrom(100, 1_000, 3_000),
  batch: fc.constantFrom(1, 1, 3, 40),
  consumers: fc.integer({ min: 1, max: 12 }),
  level: fc.constantFrom("broker", "topicDefault", "subscriptionDefault"),
  queue: fc.constantFrom(1, 10, 1_000, 2 ** 32 - 1),
});

test("never more than rate × W + capacity + an entry, and at least 97 % while there is demand", () => {
  fc.assert(
    fc.property(config, ({ rate, periodMs, batch, consumers, level, queue }) => {
      const world = new DispatchWorld({ [level]: { messages: rate, periodMs } });
      for (let i = 0; i < consumers; i++)
        world.join({ topic: TOPICS[0], backlog: always({ messages: batch }), queue });
      world.run(6_000);
      // Consumers that have not seen a batch hold one permit each, which may bring a whole one.
      const learning = batch === 1 ? 0 : consumers * batch;
      expect(world.burst(rate / periodMs)).toBeLessThanOrEqual(rate + batch + learning);
      const got = world.consumers.reduce((sum, one) => sum + one.got, 0);
      const possible = rate + Math.floor((rate * 6_000) / periodMs);
      // One batch may be waiting for its tokens; a period of 100 ms loses what comes within 3 ms.
      expect(got).toBeGreaterThanOrEqual(0.97 * possible - 2 * batch - 1);
    }),
    { numRuns: 40 },
  );
});

test("consumers that share a limit get the same, within what one may hold", () => {
  fc.assert(
    fc.property(config, ({ rate, periodMs, batch, consumers, level }) => {
      const world = new DispatchWorld({ [level]: { messages: rate, periodMs } });
      for (let i = 0; i < consumers; i++)
        world.join({ topic: TOPICS[0], backlog: always({ messages: batch }) });
      world.run(6_000);
      const got = world.consumers.map((one) => one.got);
      const hold = Math.max(1, Math.floor((rate * 100) / periodMs));
      expect(Math.max(...got) - Math.min(...got)).toBeLessThanOrEqual(2 * (hold + batch));
    }),
    { numRuns: 40 },
  );
});

type Step =
  | { readonly kind: "join"; readonly topic: 0 | 1; readonly sub: string; readonly isIdle: boolean }
  | { readonly kind: "leave" | "wake"; readonly which: number }
  | { readonly kind: "flow"; readonly which: number; readonly permits: number }
  | { readonly kind: "run"; readonly ms: number }
  | { readonly kind: "set"; readonly target: number; readonly rate: number; readonly of: string }
  | { readonly kind: "unset"; readonly target: number };

const TARGETS = [
  { level: "broker" },
  { level: "default" },
  { level: "topic", name: TOPICS[0] },
  { level: "subscription-default" },
  { level: "subscription", topic: TOPICS[1], name: "s" },
] as const;

const which = fc.nat(20);
const target = fc.nat(TARGETS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("join" as const),
    topic: fc.constantFrom(0 as const, 1 as const),
    sub: fc.constantFrom("s", "r"),
    isIdle: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom("leave" as const, "wake" as const), which }),
  fc.record({
    kind: fc.constant("flow" as const),
    which,
    permits: fc.constantFrom(1, 50, 2 ** 32 - 1),
  }),
  fc.record({ kind: fc.constant("run" as const), ms: fc.integer({ min: 1, max: 300 }) }),
  fc.record({
    kind: fc.constant("set" as const),
    target,
    rate: fc.integer({ min: 1, max: 500 }),
    of: fc.constantFrom("messages", "bytes"),
  }),
  fc.record({ kind: fc.constant("unset" as const), target }),
);

test("no interleaving of flow, close, delivery and changes of limits leaves a consumer stuck", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.boolean(),
      fc.constantFrom(1, 1, 7),
      (steps, canWithdraw, messages) => {
        const world = new DispatchWorld({});
        world.turnsMax = 20;
        const idle = new Set<SimulatedConsumer>();
        const open = (index: number): SimulatedConsumer | undefined => {
          const all = world.consumers.filter((one) => one.isOpen);
          return all[index % Math.max(1, all.length)];
        };
        for (const one of steps) {
          switch (one.kind) {
            case "join": {
              const entry = { messages, bytes: 10 * messages };
              const joined = world.join({
                topic: TOPICS[one.topic],
                subscription: one.sub,
                queue: 100,
                canWithdraw,
                backlog: () => (idle.has(joined) ? undefined : entry),
              });
              if (one.isIdle) idle.add(joined);
              break;
            }
            case "leave": {
              const consumer = open(one.which);
              if (consumer !== undefined) world.leave(consumer);
              break;
            }
            case "wake":
              idle.delete(open(one.which) as SimulatedConsumer);
              break;
            case "flow": {
              const consumer = open(one.which);
              if (consumer !== undefined) world.flow(consumer, one.permits);
              break;
            }
            case "run":
              world.run(one.ms);
              break;
            case "set": {
              const rate = one.of === "bytes" ? { bytes: 10 * one.rate } : { messages: one.rate };
              world.limits.set(TARGETS[one.target] as (typeof TARGETS)[0], rate, world.nowMs);
              break;
            }
            case "unset":
              world.limits.unset(TARGETS[one.target] as (typeof TARGETS)[0], world.nowMs);
          }
        }
        // A relay's permits that were out are charged first, at most 1,000 of each consumer.
        for (const { target: each } of world.limits.list()) world.limits.unset(each, world.nowMs);
        world.run(1);
        world.limits.set({ level: "broker" }, { messages: 5_000 }, world.nowMs);
        idle.clear();
        for (const consumer of world.consumers) if (consumer.isOpen) world.flow(consumer, 1);
        const before = new Map(world.consumers.map((consumer) => [consumer, consumer.got]));
        const staying = world.consumers.filter(({ isOpen }) => isOpen);
        world.run(12_000);
        for (const consumer of staying)
          expect(consumer.got).toBeGreaterThan(before.get(consumer) ?? Infinity);
        // Nothing stays reserved: a consumer that is alone has the whole capacity.
        for (const consumer of staying) world.leave(consumer);
        world.run(2_000);
        const last = world.join({ topic: TOPICS[0], backlog: always() });
        world.run(50);
        expect(last.got).toBeGreaterThanOrEqual(200);
      },
    ),
    { numRuns: 60 },
  );
});

test("10,000 consumers that allow 2^32 − 1 messages cost bounded work", () => {
  const limits = new DispatchLimits({ broker: { messages: 100 } });
  const desk = new DispatchDesk({ limits, onWakeAt: () => {} });
  for (let i = 0; i < 10_000; i++) {
    let permits = 0;
    const withdraw = (most: number): number => {
      const taken = Math.min(most, permits);
      permits -= taken;
      return taken;
    };
    const consumer = desk.open({ topic: `t-${i}`, subscription: "s", pass: () => {}, withdraw });
    permits += desk.onFlow(consumer, 2 ** 32 - 1, 0);
  }
  let releases = 0;
  let grants = 0;
  for (let nowMs = desk.wakeAtMs; nowMs < 10_000; nowMs = desk.wakeAtMs) {
    releases++;
    // Idle all of them: permits are passed round in bounded rounds.
    grants += desk.release(nowMs, 1_000).grants.length;
  }
  // At most 50 of them hold a permit that they may not use, in rounds of 100 ms.
  expect(grants).toBeLessThanOrEqual(50 * 101);
  expect(releases).toBeLessThanOrEqual(1_000);
});
