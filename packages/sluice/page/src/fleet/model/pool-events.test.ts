import { expect, test } from "vitest";
import type { LiveMember, LivePoolPast } from "../../../../src/live/live-message.ts";
import { eventsOf, eventText, labelsOf } from "./pool-events.ts";
import { mostTold, usedByAll } from "./pool-use.ts";

const look = (
  seconds: number,
  states: Readonly<Record<string, LiveMember["state"]>>,
  more: Partial<LivePoolPast> = {},
): LivePoolPast => ({
  atMs: seconds * 1_000,
  ceiling: 100,
  max: 100,
  members: Object.entries(states).map(([id, state]) => ({
    id,
    share: 50,
    state,
    ...(id === "a" && { isThis: true }),
  })),
  ...more,
});

const texts = (past: readonly LivePoolPast[]): readonly string[] => eventsOf(past).map(eventText);
const labels = (past: readonly LivePoolPast[]): readonly string[] =>
  labelsOf(eventsOf(past), 15 * 60_000).map(({ text }) => text);

test("a join, a leave, a stop and a return are told, and the first look tells nothing", () => {
  const past = [
    look(0, { a: "holds", b: "holds" }),
    look(100, { a: "holds", b: "holds", c: "joining" }),
    look(102, { a: "holds", b: "holds", c: "holds" }),
    look(200, { a: "holds", b: "left", c: "holds" }),
    look(206, { a: "holds", c: "holds" }),
    look(300, { a: "holds", c: "lease-ended" }),
    look(400, { a: "holds", c: "holds" }),
  ];
  expect(texts(past)).toEqual(["c joined", "b left", "c stopped", "c returned"]);
  expect(labels(past)).toEqual(["c joined", "b left", "c stopped", "c returned"]);
});

test("a member that is missing for ten seconds has stopped, and one that is back sooner has not", () => {
  const gone = [
    look(0, { a: "holds", b: "holds" }),
    look(5, { a: "holds" }),
    look(20, { a: "holds" }),
  ];
  expect(eventsOf(gone)).toEqual([{ atMs: 5_000, kind: "stopped", of: "b" }]);
  const back = [gone[0], gone[1], look(8, { a: "holds", b: "holds" })].flatMap((one) => one ?? []);
  expect(texts(back)).toEqual([]);
});

test("as many that joined as have left are a redeploy, and others are named or counted", () => {
  const replaced = [
    look(0, { a: "holds", b: "holds" }),
    look(5, { a: "holds", b: "left" }),
    look(10, { a: "holds", c: "joining" }),
  ];
  expect(labels(replaced)).toEqual(["redeploy"]);
  const grown = [
    look(0, { a: "holds" }),
    look(5, { a: "holds", b: "joining", c: "joining" }),
    look(9, { a: "holds", b: "holds", c: "holds", d: "joining" }),
  ];
  expect(labels(grown)).toEqual(["3 joined"]);
});

test("while the store is lost nobody leaves, and its return is no join", () => {
  const past = [
    look(0, { a: "holds", b: "holds" }),
    look(100, { a: "holds" }, { isBlind: true }),
    look(105, { a: "safe-share" }, { isBlind: true }),
    look(120, { a: "safe-share" }, { isBlind: true }),
    look(200, { a: "holds", b: "holds" }),
  ];
  expect(texts(past)).toEqual(["store lost", "store back"]);
});

test("a store that lost its data, and a limit that was changed, are told", () => {
  const past = [
    look(0, { a: "holds", b: "holds" }),
    look(5, { a: "safe-share" }, { isBlind: true }),
    look(20, { a: "holds" }, { isLearning: true }),
    look(22, { a: "holds", b: "holds" }, { isLearning: true }),
    look(100, { a: "holds", b: "holds" }, { max: 2_000 }),
  ];
  expect(texts(past)).toEqual([
    "store lost",
    "store back",
    "store came back empty",
    "max 100 → 2,000",
  ]);
  expect(labels(past)).toEqual(["store lost, back empty", "max 100 → 2,000"]);
});

test("the use of a pool is known only if all of its members say theirs", () => {
  const [a, b] = [
    { id: "a", share: 60, state: "holds", used: 0.5 },
    { id: "b", share: 40, state: "holds", used: 1 },
  ] as const;
  const known: LivePoolPast = { atMs: 1_000, ceiling: 100, members: [a, b] };
  expect(usedByAll([known], 2_000)).toBe(70);
  expect(usedByAll([known], 900)).toBeUndefined();
  expect(usedByAll([known], 60_000)).toBeUndefined();
  const { used: _, ...silent } = b;
  expect(usedByAll([{ ...known, members: [a, silent] }], 2_000)).toBeUndefined();
  expect(mostTold([known, { ...known, members: [a] }])).toBe(1);
  expect(mostTold([])).toBeUndefined();
});
