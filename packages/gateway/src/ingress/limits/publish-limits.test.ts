import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PublishLimits } from "./publish-limits.ts";
import type { LimitTarget } from "./rate-limit.ts";

const MIB = 1024 * 1024;
const ONE = { messages: 1, bytes: 1 };

function namesOf(limits: PublishLimits, topic: string): readonly string[] {
  return limits
    .limitsOf(topic)
    .levelsAt(0)
    .map(({ name, limit }) => `${name} ${limit.messages}`);
}

test("a topic's own limit comes before its namespace's, and that before the default", () => {
  const limits = new PublishLimits({
    topicDefault: { messages: 1 },
    namespaces: { "a/b": { messages: 2 } },
    topics: { "persistent://a/b/own": { messages: 3 } },
  });
  const topics = ["a/b/own", "a/b/other", "a/c/other", "persistent://a/b/own-partition-4"];
  expect(topics.map((topic) => namesOf(limits, topic))).toEqual([
    ["topic 3"],
    ["topic 2"],
    ["topic 1"],
    ["topic 3"],
  ]);
});

test("a topic has its own level, those of all its groups, and the broker's, in this order", () => {
  const limits = new PublishLimits({
    broker: { messages: 9 },
    topicDefault: { messages: 1 },
    groups: {
      tenant: { topics: ["a"], messages: 5 },
      space: { topics: ["x/y/z", "a/b"], messages: 4 },
      some: { topics: ["*/*/t*"], messages: 3 },
      others: { topics: ["b/*"], messages: 2 },
    },
  });
  expect(namesOf(limits, "a/b/two")).toEqual([
    "topic 1",
    "group tenant 5",
    "group space 4",
    "group some 3",
    "broker 9",
  ]);
  expect(namesOf(limits, "b/b/one")).toEqual(["topic 1", "group others 2", "broker 9"]);
});

test("topics that Pulsar keeps for itself have only a limit that names them", () => {
  const limits = new PublishLimits({
    broker: { messages: 1 },
    topicDefault: { messages: 1 },
    groups: { all: { topics: ["*"], messages: 1 } },
    topics: { "a/b/__named": { messages: 7 } },
  });
  expect(namesOf(limits, "pulsar/system/transaction_coordinator_assign")).toEqual([]);
  expect(namesOf(limits, "a/b/__change_events-partition-0")).toEqual([]);
  expect(namesOf(limits, "a/b/__named")).toEqual(["topic 7"]);
});

test("without limits every topic has one and the same empty list", () => {
  const limits = new PublishLimits();
  expect(limits.limitsOf("one").levelsAt(0)).toBe(limits.limitsOf("two").levelsAt(5));
});

test("all partitions of a topic share its bucket, and other topics do not", () => {
  const limits = new PublishLimits({ topicDefault: { messages: 1 } });
  const [first] = limits.limitsOf("t-partition-0").levelsAt(0);
  expect(limits.limitsOf("t-partition-1").levelsAt(0)).toEqual([first]);
  expect(limits.limitsOf("t").levelsAt(0)[0]).toBe(first);
  expect(limits.limitsOf("u").levelsAt(0)[0]).not.toBe(first);
});

test("what was answered before a change is right after it", () => {
  const limits = new PublishLimits();
  const topic = limits.limitsOf("a/b/t");
  const names = (): readonly string[] => topic.levelsAt(0).map(({ name }) => name);
  const steps: (readonly [LimitTarget, readonly string[]])[] = [
    [{ level: "default" }, ["topic"]],
    [{ level: "broker" }, ["topic", "broker"]],
    [{ level: "namespace", name: "a/b" }, ["topic", "broker"]],
    [{ level: "topic", name: "a/b/t" }, ["topic", "broker"]],
  ];
  for (const [target, expected] of steps) {
    limits.set(target, { messages: 5 }, 0);
    expect(names()).toEqual(expected);
  }
  limits.setGroup("g", ["a"], 0);
  expect(names()).toEqual(["topic", "broker"]);
  limits.set({ level: "group", name: "g" }, { bytes: 5 }, 0);
  expect(names()).toEqual(["topic", "group g", "broker"]);
  expect(limits.list().length).toBe(5);
  limits.removeGroup("g", 0);
  for (const [target] of steps) limits.unset(target, 0);
  expect([names(), limits.list(), limits.topicBuckets]).toEqual([[], [], 0]);
});

test("a change of the rate keeps the debt, and a limit in messages that comes later keeps that of the bytes", () => {
  const target: LimitTarget = { level: "topic", name: "t" };
  const limits = new PublishLimits({ topics: { t: { bytes: 100 } } });
  const [level] = limits.limitsOf("t").levelsAt(0);
  level?.charge({ messages: 1, bytes: 1_100 });
  limits.set(target, { bytes: 1_000 }, 0);
  // 1,000 bytes of debt and 1 % of the new capacity, at the new rate.
  expect(level?.pauseMs(0)).toBe(1_010);
  limits.set(target, { messages: 1, bytes: 1_000 }, 0);
  expect([level?.pauseMs(0), level?.hasRoom(0)]).toEqual([1_010, false]);
  limits.set(target, { messages: 1 }, 0);
  expect(level?.hasRoom(0)).toBe(true);
});

test("a namespace's limit changes the buckets of its topics, debts included", () => {
  const target: LimitTarget = { level: "namespace", name: "public/default" };
  const limits = new PublishLimits({ namespaces: { "public/default": { messages: 10 } } });
  const topic = limits.limitsOf("t");
  topic.levelsAt(0)[0]?.charge({ messages: 20, bytes: 0 });
  limits.set(target, { messages: 100 }, 0);
  expect(topic.levelsAt(0)[0]?.pauseMs(0)).toBe(110);
});

test("full buckets are forgotten, used ones are not, so that the map is bounded and no limit doubles", () => {
  const limits = new PublishLimits({ topicDefault: { messages: 10 } });
  const used = limits.limitsOf("used");
  used.levelsAt(0)[0]?.charge({ messages: 30, bytes: 0 });
  const idle = limits.limitsOf("idle");
  idle.levelsAt(0);
  for (let i = 0; i < 5_000; i++) limits.limitsOf(`t${i}`).levelsAt(0);
  expect(limits.topicBuckets).toBeLessThan(1_100);
  expect(limits.limitsOf("used").levelsAt(0)[0]).toBe(used.levelsAt(0)[0]);
  expect(limits.limitsOf("idle").levelsAt(0)[0]).toBe(idle.levelsAt(0)[0]);
  expect(used.levelsAt(0)[0]?.hasRoom(0)).toBe(false);
});

test("the debt is bounded by one frame and one second", () => {
  const limits = new PublishLimits({ broker: { messages: 10 } });
  const [broker] = limits.limitsOf("t").levelsAt(0);
  broker?.charge({ messages: 1e9, bytes: 0 });
  expect(broker?.pauseMs(0)).toBeLessThanOrEqual((100_000 / 10 + 2) * 1_000);
});

test("listeners hear of every change, and not after they stopped", () => {
  const limits = new PublishLimits();
  const heard: number[] = [];
  const stop = limits.onChange((nowMs) => heard.push(nowMs));
  limits.set({ level: "broker" }, ONE, 1);
  limits.set({ level: "broker" }, { messages: 2 }, 2);
  limits.unset({ level: "broker" }, 3);
  limits.unset({ level: "broker" }, 4);
  stop();
  limits.set({ level: "broker" }, ONE, 5);
  expect(heard).toEqual([1, 2, 3]);
});

test("what is set can be read, listed and removed", () => {
  const target = fc.oneof(
    fc.constant<LimitTarget>({ level: "broker" }),
    fc.constant<LimitTarget>({ level: "default" }),
    fc.constantFrom("a/b", "a/c").map((name): LimitTarget => ({ level: "namespace", name })),
    fc
      .constantFrom("persistent://a/b/t", "persistent://a/b/u")
      .map((name): LimitTarget => ({ level: "topic", name })),
    fc.constantFrom("g", "h").map((name): LimitTarget => ({ level: "group", name })),
  );
  const step = fc.record({ target, messages: fc.option(fc.integer({ min: 1, max: 9 })) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const limits = new PublishLimits();
      for (const name of ["g", "h"]) limits.setGroup(name, ["a"], 0);
      const model = new Map<string, number>();
      for (const { target: of, messages } of steps) {
        if (messages === null) {
          limits.unset(of, 0);
          model.delete(JSON.stringify(of));
        } else {
          limits.set(of, { messages }, 0);
          model.set(JSON.stringify(of), messages);
        }
        expect(limits.get(of)?.messages).toBe(messages ?? undefined);
      }
      const listed = limits.list().map((one) => [JSON.stringify(one.target), one.limit.messages]);
      expect(new Map(listed as [string, number][])).toEqual(model);
    }),
  );
});

test.each([
  [{ broker: {} }, "neither messages nor bytes"],
  [{ broker: { messages: 0 } }, "messages is 0"],
  [{ topicDefault: { bytes: -1 } }, "bytes is -1"],
  [{ topicDefault: { messages: 0.5 } }, "whole number"],
  [{ topics: { "a/b": { messages: 1 } } }, 'topic "a/b"'],
  [
    { topics: { "public/default/*": { messages: 1 } } },
    "is a pattern; a limit of a topic names one topic",
  ],
  [{ namespaces: { a: { messages: 1 } } }, "tenant/namespace"],
  [{ groups: { g: { topics: ["a/b/c/d"], messages: 1 } } }, "a pattern is"],
  [{ groups: { g: { topics: ["a"] } } }, "neither messages nor bytes"],
])("%j is refused with a way out", (settings, message) => {
  expect(() => new PublishLimits(settings)).toThrow(ConfigError);
  expect(() => new PublishLimits(settings)).toThrow(message);
});

test("a limit for a group that is not there names those that are", () => {
  const limits = new PublishLimits({ groups: { known: { topics: ["a"], messages: 1 } } });
  expect(() => limits.set({ level: "group", name: "nown" }, ONE, 0)).toThrow("known");
});

test("a frame of 512 MiB is charged in full: the next one waits for all of it", () => {
  const limits = new PublishLimits({ topics: { t: { bytes: MIB } } });
  const [level] = limits.limitsOf("t").levelsAt(0);
  level?.charge({ messages: 1, bytes: 512 * MIB });
  expect(level?.balance(0).bytes).toBe(-511 * MIB);
  expect(level?.hasRoom(510_999)).toBe(false);
});
