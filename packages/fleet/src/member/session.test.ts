import { expect, test } from "vitest";
import { PARTS } from "../ledger/parts.ts";
import { DEFAULT_TIMING } from "../ledger/timing.ts";
import { told } from "../../test/replies.ts";
import type { MemberRules } from "./membership.ts";
import { MemberSession } from "./session.ts";

const RULES: MemberRules = {
  timing: DEFAULT_TIMING,
  maxMembers: 10,
  onStoreLoss: "safe-share",
  joinOn: "agreement",
  share: "demand",
  needsRank: false,
};
const IDENTITY = { pool: "shop/orders", member: "a", nonce: "n1" };
const CONDITION = { level: 70, wanted: 5, limits: { version: 2, text: undefined } };

function newSession(rules: Partial<MemberRules> = {}, nowMs = 0): MemberSession {
  return new MemberSession(IDENTITY, { ...RULES, ...rules }, { nowMs, resumeTtlMs: 9000 });
}

function due(session: MemberSession, nowMs: number) {
  return session.onDue(nowMs, () => CONDITION);
}

test("it syncs when it starts, and tells all that the store must know", () => {
  const session = newSession({}, 40);
  expect(session.dueAtMs).toBe(40);
  expect(due(session, 39)).toEqual({ send: undefined, isLate: false, changes: [] });
  expect(due(session, 40).send).toEqual({
    ...IDENTITY,
    sequence: 1,
    isFirst: true,
    held: 0,
    isHeldUnleased: false,
    wanted: 5,
    safeShare: PARTS / 10,
    startsOnSafeShare: false,
    needsRank: false,
    level: 70,
    limits: { version: 2, text: undefined },
    timing: DEFAULT_TIMING,
    resumeTtlMs: 9000,
  });
});

test.each([
  ["with equal shares it wants everything", { share: "equal" }, { wanted: PARTS }],
  [
    "closed without the store, it asks for no safe share",
    { onStoreLoss: "closed" },
    { safeShare: 0 },
  ],
  ["it may start on its safe share", { joinOn: "safe-share" }, { startsOnSafeShare: true }],
] as const)("%s", (_name, rules, said) => {
  expect(due(newSession(rules), 0).send).toMatchObject(said);
});

test("after a reply it is due one interval after the send, and reports what it holds", () => {
  const session = newSession();
  due(session, 0);
  expect(session.dueAtMs).toBe(250);
  session.onReply(1, told(PARTS), 30);
  expect([session.dueAtMs, session.membership.syncedAtMs]).toEqual([500, 0]);
  expect(due(session, 499).send).toBeUndefined();
  expect(due(session, 500).send).toMatchObject({ sequence: 2, isFirst: false, held: PARTS });
});

test("a late reply is reported as late, and still counts until the next sync is sent", () => {
  const session = newSession();
  due(session, 0);
  expect(due(session, 250)).toMatchObject({ isLate: true, send: undefined });
  expect(due(session, 300)).toMatchObject({ isLate: false });
  // The next sync waits for it: longer round trips than the interval are no reason to get no reply at all.
  expect([session.dueAtMs, session.isAwaiting(1)]).toEqual([750, true]);
  expect(due(session, 749).send).toBeUndefined();
  session.onReply(1, told(PARTS), 749);
  // Its lease counts from the send all the same.
  expect(session.membership.leaseUntilMs).toBe(5000);
  expect(due(session, 749).send?.sequence).toBe(2);
});

test("a reply to any sync but the last changes nothing", () => {
  const session = newSession();
  due(session, 0);
  due(session, 750);
  for (const sequence of [0, 1, 3]) {
    expect(session.isAwaiting(sequence)).toBe(false);
    session.onReply(sequence, told(PARTS), 760);
    session.onFailure(sequence, 760);
  }
  expect([session.isAwaiting(2), session.membership.size]).toEqual([true, 0]);
});

test("a hanging store is lost when the lease ends", () => {
  const session = newSession();
  due(session, 0);
  session.onReply(1, told(PARTS), 3);
  for (let nowMs = 500; nowMs < 5500; nowMs += 250) due(session, nowMs);
  expect(session.membership.standing).toBe("lost");
});

test("syncs that a stopped process has missed are not made up for", () => {
  const session = newSession();
  due(session, 0);
  expect(due(session, 50_000).send?.sequence).toBe(2);
  session.onReply(2, told(PARTS), 50_000);
  expect([due(session, 50_000).send, session.dueAtMs]).toEqual([undefined, 50_500]);
});

test("on leaving it tells the store its id and why", () => {
  expect(newSession().leave("redeploy", 70)).toEqual({
    ...IDENTITY,
    level: 70,
    reason: "redeploy",
    timing: DEFAULT_TIMING,
    resumeTtlMs: 9000,
  });
});
