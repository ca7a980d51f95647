import { describe, expect, test } from "vitest";
import { always, DispatchWorld } from "../../../test/dispatch-world.ts";

const T = "persistent://public/default/t";

function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return (sum * sum) / (values.length * squares);
}

describe("without a limit", () => {
  test("all permits are passed on at once and nothing is scheduled", () => {
    const world = new DispatchWorld({});
    const one = world.join({ topic: T, backlog: () => undefined, queue: 2 ** 32 - 1 });
    expect([one.permits, world.desk.wakeAtMs]).toEqual([2 ** 31 - 1, Infinity]);
  });
});

describe("a limit of messages", () => {
  test("several subscriptions that share a topic's limit do not exceed it together", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 1_000 } } });
    for (const subscription of ["a", "b", "c"])
      world.join({ topic: T, subscription, backlog: always() });
    world.run(5_000);
    expect(world.burst(1)).toBeLessThanOrEqual(1_000 + 1);
    const got = world.consumers.map((one) => one.got);
    expect(got.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(0.97 * 6_000);
    expect(jain(got)).toBeGreaterThan(0.99);
  });

  test("100 consumers of one subscription get the same", () => {
    const world = new DispatchWorld({ subscriptionDefault: { messages: 1_000 } });
    for (let i = 0; i < 100; i++) world.join({ topic: T, backlog: always() });
    world.run(10_000);
    const got = world.consumers.map((one) => one.got);
    expect(jain(got)).toBeGreaterThan(0.99);
    expect(got.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(0.97 * 11_000);
  });

  test("permits that wait on idle topics let no burst through beyond the capacity", () => {
    const world = new DispatchWorld({ broker: { messages: 100 } });
    let isThere = false;
    const backlog = (): { messages: number; bytes: number } | undefined =>
      isThere ? { messages: 1, bytes: 1 } : undefined;
    for (let i = 0; i < 1_000; i++) world.join({ topic: `t-${i}`, backlog });
    world.run(10_000);
    isThere = true;
    world.run(3_000);
    expect(world.burst(0.1)).toBeLessThanOrEqual(101);
    expect(world.delivered.length).toBeGreaterThanOrEqual(0.97 * 400);
  });

  test("one busy consumer has nearly the whole limit beside 2,000 idle ones", () => {
    const world = new DispatchWorld({ broker: { messages: 1_000 } });
    for (let i = 0; i < 2_000; i++) world.join({ topic: `t-${i}`, backlog: () => undefined });
    const busy = world.join({ topic: T, backlog: always() });
    world.run(3_000);
    const before = busy.got;
    world.run(2_000);
    expect(busy.got - before).toBeGreaterThanOrEqual(0.97 * 2_000);
  });

  test("idle consumers take little of a limit of one message a second", () => {
    const world = new DispatchWorld({ broker: { messages: 1 } });
    for (let i = 0; i < 100; i++) world.join({ topic: `t-${i}`, backlog: () => undefined });
    const busy = world.join({ topic: T, backlog: always() });
    world.run(30_000);
    const before = busy.got;
    world.run(60_000);
    expect(busy.got - before).toBeGreaterThanOrEqual(50);
  });

  test("consumers that were busy and stop do not keep tokens from others", () => {
    const world = new DispatchWorld({ broker: { messages: 100 } });
    let isBusy = true;
    for (let i = 0; i < 20; i++)
      world.join({
        topic: `t-${i}`,
        backlog: () => (isBusy ? { messages: 1, bytes: 1 } : undefined),
      });
    world.run(2_000);
    isBusy = false;
    world.run(1_000);
    const late = world.join({ topic: T, backlog: always() });
    world.run(1_000);
    expect(late.got).toBeGreaterThanOrEqual(100);
  });

  test("a period of ten seconds holds exactly", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 7, periodMs: 10_000 } } });
    world.join({ topic: T, backlog: always() });
    world.run(100_010);
    expect(world.delivered.length).toBe(77);
  });

  test("batches are counted by their messages, and what exceeds the permits is charged", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 100 } } });
    for (let i = 0; i < 3; i++) world.join({ topic: T, backlog: always({ messages: 30 }) });
    world.run(20_000);
    const got = world.consumers.map((one) => one.got);
    // Before the first batch has come, each consumer holds a permit for one message.
    expect(world.burst(0.1)).toBeLessThanOrEqual(100 + 3 * 30);
    expect(got.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(0.97 * 2_100);
    expect(jain(got)).toBeGreaterThan(0.99);
  });

  test("consumers that have seen a batch exceed the limit by no more than one batch together", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 100 } } });
    let isThere = true;
    const backlog = (): { messages: number; bytes: number } | undefined =>
      isThere ? { messages: 30, bytes: 30 } : undefined;
    for (let i = 0; i < 5; i++) world.join({ topic: T, backlog });
    world.run(5_000);
    isThere = false;
    world.run(5_000);
    world.delivered.length = 0;
    isThere = true;
    world.run(5_000);
    expect(world.burst(0.1)).toBeLessThanOrEqual(100 + 30);
  });

  test("a batch larger than the capacity is delivered, and its debt is waited for", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 10 } } });
    for (let i = 0; i < 2; i++) world.join({ topic: T, backlog: always({ messages: 50 }) });
    world.run(100_000);
    const sum = world.consumers.reduce((total, one) => total + one.got, 0);
    expect(sum).toBeGreaterThanOrEqual(950);
    expect(sum).toBeLessThanOrEqual(1_000 + 10 + 2 * 50);
    expect(world.consumers.every((one) => one.got >= 400)).toBe(true);
  });
});

describe("a limit of bytes", () => {
  test("is kept within one entry of each consumer", () => {
    const world = new DispatchWorld({ topics: { [T]: { bytes: 100_000 } } });
    for (let i = 0; i < 4; i++) world.join({ topic: T, backlog: always({ bytes: 2_000 }) });
    world.run(10_000);
    expect(world.burst(100, "bytes")).toBeLessThanOrEqual(100_000 + 4 * 2_000);
    const bytes = world.delivered.reduce((sum, entry) => sum + entry.bytes, 0);
    expect(bytes).toBeGreaterThanOrEqual(0.97 * 1_100_000);
  });

  test("entries larger than the capacity are delivered at the rate", () => {
    const world = new DispatchWorld({ topics: { [T]: { bytes: 1_000 } } });
    world.join({ topic: T, backlog: always({ bytes: 5_000 }) });
    world.run(60_000);
    expect(world.delivered.length).toBeGreaterThanOrEqual(11);
    expect(world.delivered.length).toBeLessThanOrEqual(14);
  });
});

describe("a change of limits", () => {
  test("a limit that is lifted passes on all permits at once", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 1 } } });
    const one = world.join({ topic: T, backlog: always() });
    world.run(500);
    expect(one.got).toBe(1);
    world.limits.unset({ level: "topic", name: T }, world.nowMs);
    expect(world.desk.wakeAtMs).toBeLessThanOrEqual(world.nowMs);
    const { grants } = world.desk.release(world.nowMs, 10);
    expect(grants.map(({ permits }) => permits)).toEqual([999]);
  });

  test("a limit that is raised wakes consumers at once and keeps the debt", () => {
    const world = new DispatchWorld({ topics: { [T]: { messages: 1 } } });
    const one = world.join({ topic: T, backlog: always() });
    world.run(500);
    world.limits.set({ level: "topic", name: T }, { messages: 1_000 }, world.nowMs);
    world.run(100);
    expect(one.got).toBeGreaterThanOrEqual(98);
    expect(one.got).toBeLessThanOrEqual(102);
  });

  test("a limit that comes takes back permits that were passed on", () => {
    const world = new DispatchWorld({});
    let isThere = false;
    const one = world.join({
      topic: T,
      backlog: () => (isThere ? { messages: 1, bytes: 1 } : undefined),
    });
    world.run(10);
    expect(one.permits).toBe(1_000);
    world.limits.set({ level: "topic", name: T }, { messages: 10 }, world.nowMs);
    world.run(10);
    isThere = true;
    world.run(1_000);
    expect(one.got).toBeLessThanOrEqual(20);
  });

  test("behind a relay permits stay out, and what they bring is charged", () => {
    const world = new DispatchWorld({});
    const one = world.join({ topic: T, backlog: () => undefined, canWithdraw: false, queue: 100 });
    world.limits.set({ level: "topic", name: T }, { messages: 10 }, world.nowMs);
    world.run(10);
    one.permits -= 100;
    const delivered = { messages: 100, bytes: 100, largest: 1 };
    expect(world.desk.onDelivered(one.consumer, delivered, world.nowMs)).toBe(0);
    world.flow(one, 100);
    world.run(8_900);
    expect(one.permits).toBe(0);
    world.run(200);
    expect(one.permits).toBeGreaterThan(0);
  });

  test("an explicit rate without numbers lifts the limit of the namespace for one topic", () => {
    const world = new DispatchWorld({
      namespaces: { "public/default": { messages: 1 } },
      topics: { [T]: {} },
    });
    const free = world.join({ topic: T, backlog: () => undefined });
    const other = world.join({ topic: "u", backlog: () => undefined });
    expect([free.permits, other.permits]).toEqual([1_000, 1]);
  });

  test("a rate of a subscription goes before that of its topic's subscriptions and namespace", () => {
    const world = new DispatchWorld({
      namespaceSubscriptions: { "public/default": { messages: 1 } },
      topicSubscriptions: { [T]: { messages: 2 } },
      subscriptions: { t: { s: { messages: 3 } } },
    });
    const { limits } = world;
    expect(limits.applied(T, "s")?.messages).toBe(3);
    limits.unset({ level: "subscription", topic: "t", name: "s" }, 0);
    expect(limits.applied(`${T}-partition-1`, "s")?.messages).toBe(2);
    limits.unset({ level: "topic-subscriptions", name: T }, 0);
    expect(limits.applied(T, "s")?.messages).toBe(1);
    expect(limits.applied(T)).toBeUndefined();
  });

  test("topics that Pulsar keeps for itself have only limits of their own", () => {
    const world = new DispatchWorld({ broker: { messages: 1 }, topicDefault: { messages: 1 } });
    const one = world.join({ topic: "public/default/__change_events", backlog: () => undefined });
    expect(one.permits).toBe(1_000);
  });
});

test("a consumer that closes gives its reserved tokens to others at once", () => {
  const world = new DispatchWorld({ topics: { [T]: { messages: 1 } } });
  const idle = world.join({ topic: T, backlog: () => undefined });
  const busy = world.join({ topic: T, backlog: always() });
  expect([idle.permits, busy.permits]).toEqual([1, 0]);
  world.leave(idle);
  world.run(1);
  expect(busy.got).toBe(1);
});

test("waits are counted by the limit that caused them", () => {
  const world = new DispatchWorld({
    topics: { [T]: { messages: 10 } },
    subscriptions: { [T]: { slow: { messages: 1 } } },
  });
  world.join({ topic: T, subscription: "slow", backlog: always() });
  world.join({ topic: T, subscription: "fast", backlog: always() });
  world.run(3_000);
  const slow = world.desk.countsOf("t", "slow");
  const fast = world.desk.countsOf("t", "fast");
  expect(slow.dispatchThrottledMsgEventsBySubscriptionLimit).toBeGreaterThan(0);
  expect(slow.dispatchThrottledMsgEventsByTopicLimit).toBe(0);
  expect(fast.dispatchThrottledMsgEventsByTopicLimit).toBeGreaterThan(0);
  expect(fast.dispatchThrottledBytesEventsByBrokerLimit).toBe(0);
});

test("1,000 consumers that come together all have their first message as soon as the rate allows", () => {
  const world = new DispatchWorld({ broker: { messages: 100 } });
  for (let i = 0; i < 1_000; i++) world.join({ topic: `t-${i}`, backlog: always() });
  world.run(11_000);
  expect(world.delivered.length).toBeGreaterThanOrEqual(0.97 * 1_200);
  expect(world.consumers.filter((one) => one.got === 0).length).toBeLessThanOrEqual(100);
  expect(Math.max(...world.consumers.map((one) => one.got))).toBeLessThanOrEqual(12);
});
