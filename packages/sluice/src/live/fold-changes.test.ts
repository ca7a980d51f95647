import type { TimedEvent } from "@sluice/gateway/admin";
import { expect, test } from "vitest";
import { foldChange } from "./fold-changes.ts";
import { liveChange } from "./live-change.ts";
import type { LiveChange } from "./live-message.ts";

const told = (producer: string, pauseMs: number, topic = "persistent://public/default/t") =>
  ({ kind: "producer-told", producer, topic, pauseMs, reason: "topic-rate" }) as const;

const limited = (to: number) =>
  ({
    kind: "limit-changed",
    target: "topic t",
    from: { messages: 1 },
    to: { messages: to },
    by: "admin",
  }) as const;

/** The lines after these events, one a second. */
function linesAfter(events: readonly unknown[]): readonly LiveChange[] {
  return events.reduce<readonly LiveChange[]>((lines, event, index) => {
    const change = liveChange({
      id: index,
      atMs: index * 1_000,
      event: event as TimedEvent["event"],
    });
    return change === undefined ? lines : foldChange(lines, change);
  }, []);
}

test("notices of one producer are one line with a count, the first time and the last pause", () => {
  const lines = linesAfter([told("web", 100), told("app", 50), told("web", 300), told("web", 900)]);
  expect(lines.map(({ subject, times, sinceMs }) => [subject, times, sinceMs])).toEqual([
    ["web", 3, 0],
    ["app", undefined, undefined],
  ]);
  expect(lines[0]).toMatchObject({ atMs: 3_000, id: 3 });
  expect(lines[0]?.text).toContain("was told to wait 900 ms");
});

test("producers of one name on two topics have a line each", () => {
  expect(linesAfter([told("web", 1), told("web", 1, "persistent://a/b/c")])).toHaveLength(2);
});

test("each change of a limit has its own line", () => {
  expect(linesAfter([limited(5), limited(9), limited(5)])).toHaveLength(3);
});

test("many notices leave room for what else has changed, and there are 50 lines", () => {
  const notices = Array.from({ length: 500 }, (_, index) => told(`p-${index % 3}`, index));
  const lines = linesAfter([limited(5), ...notices]);
  expect(lines.map(({ kind }) => kind)).toEqual([
    ...Array.from({ length: 3 }, () => "producer-told"),
    "limit-changed",
  ]);
  const others = Array.from({ length: 500 }, (_, index) => limited(index));
  expect(linesAfter(others)).toHaveLength(50);
});
