import { expect, test } from "vitest";
import type {
  LiveMember,
  LivePoolDetail,
  LivePoolPast,
} from "../../../../src/live/live-message.ts";
import { PAST_MS, withPresent } from "../../../../src/live/pool-past.ts";
import { spansOf, withPast } from "./pool-past.ts";

const lookAt = (
  atMs: number,
  states: Readonly<Record<string, LiveMember["state"]>>,
): LivePoolPast => ({
  atMs,
  ceiling: 100,
  members: Object.entries(states).map(([id, state]) => ({ id, share: 50, state })),
});

const present = (
  atMs: number,
  states: Readonly<Record<string, LiveMember["state"]>>,
): LivePoolDetail =>
  ({
    atMs,
    share: { ceiling: 100 },
    members: lookAt(atMs, states).members,
    store: { isAnswering: true },
  }) as LivePoolDetail;

test("a member that keeps its state has one span, and a new state begins another", () => {
  const past = [
    lookAt(0, { a: "holds" }),
    lookAt(2_000, { a: "holds", b: "joining" }),
    lookAt(4_000, { a: "releasing", b: "joining" }),
    lookAt(6_000, { a: "holds", b: "holds" }),
  ];
  expect(spansOf(past)).toEqual([
    {
      id: "a",
      isHere: true,
      spans: [
        { state: "holds", fromMs: 0, toMs: 4_000 },
        { state: "releasing", fromMs: 4_000, toMs: 6_000 },
        { state: "holds", fromMs: 6_000, toMs: 6_000 },
      ],
    },
    {
      id: "b",
      isHere: true,
      spans: [
        { state: "joining", fromMs: 2_000, toMs: 6_000 },
        { state: "holds", fromMs: 6_000, toMs: 6_000 },
      ],
    },
  ]);
});

test("a time that nobody has seen is not filled", () => {
  const [a] = spansOf([
    lookAt(0, { a: "holds" }),
    lookAt(60_000, { a: "holds" }),
    lookAt(62_000, { a: "holds" }),
  ]);
  expect(a?.spans).toEqual([
    { state: "holds", fromMs: 0, toMs: 2_000 },
    { state: "holds", fromMs: 60_000, toMs: 62_000 },
  ]);
});

test("a member that is gone keeps its lane", () => {
  const [a] = spansOf([lookAt(0, { a: "holds" }), lookAt(2_000, { b: "holds" })]);
  expect(a).toMatchObject({ id: "a", isHere: false });
});

test("the present is added every two seconds, and at once when a state changes", () => {
  const one = withPresent([], present(0, { a: "holds" }));
  expect(withPresent(one, present(500, { a: "holds" }))).toBe(one);
  expect(withPresent(one, present(500, { a: "safe-share" }))).toHaveLength(2);
  expect(withPresent(one, present(2_000, { a: "holds" }))).toHaveLength(2);
});

test("what is older than fifteen minutes is dropped, and looks that come twice are one", () => {
  const past = withPast(
    [lookAt(PAST_MS + 1_000, { a: "holds" })],
    [
      lookAt(0, { a: "holds" }),
      lookAt(2_000, { a: "holds" }),
      lookAt(PAST_MS + 1_000, { a: "holds" }),
    ],
  );
  expect(past.map(({ atMs }) => atMs)).toEqual([2_000, PAST_MS + 1_000]);
});

test("while the store is silent only this member is known", () => {
  const detail = present(0, { a: "safe-share", b: "lease-ended" });
  const members = detail.members.map((one) => ({ ...one, isThis: one.id === "a" }));
  const store = { ...detail.store, isAnswering: false };
  const [look] = withPresent([], { ...detail, members, store });
  expect(look?.members.map(({ id }) => id)).toEqual(["a"]);
});
