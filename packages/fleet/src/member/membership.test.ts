import { describe, expect, test } from "vitest";
import { PARTS } from "../ledger/parts.ts";
import { DEFAULT_TIMING } from "../ledger/timing.ts";
import { told } from "../../test/replies.ts";
import { Membership } from "./membership.ts";
import type { MemberRules } from "./membership.ts";

const RULES: MemberRules = {
  timing: DEFAULT_TIMING,
  maxMembers: 10,
  onStoreLoss: "safe-share",
  joinOn: "agreement",
  share: "equal",
  needsRank: true,
};
const { leaseMs, timeoutMs, syncIntervalMs } = DEFAULT_TIMING;
const SAFE = PARTS / 10;

function newMembership(rules: Partial<MemberRules> = {}): Membership {
  return new Membership({ ...RULES, ...rules });
}

/** A member that has the whole ceiling since a sync at 0. */
function member(rules: Partial<MemberRules> = {}): Membership {
  const membership = newMembership(rules);
  membership.onReply(told(PARTS), 0, 3);
  return membership;
}

function parts(count: number) {
  return { kind: "parts", parts: count };
}

test("a joiner has nothing, is told what it may use, and is a member with 90 % of its fair share", () => {
  const membership = newMembership();
  expect([membership.standing, membership.entitlementAt(0)]).toEqual(["joining", undefined]);
  expect(membership.onReply(told(0, { fair: 100, members: 3 }), 0, 3)).toEqual([
    { type: "size", size: 3, before: 0 },
  ]);
  expect([membership.standing, membership.entitlementAt(4)]).toEqual(["joining", undefined]);
  membership.onReply(told(89, { fair: 100, members: 3 }), 500, 503);
  expect([membership.standing, membership.entitlementAt(504)]).toEqual(["joining", parts(89)]);
  const changes = membership.onReply(
    told(90, { fair: 100, members: 3, reason: "grown" }),
    1000,
    1003,
  );
  expect(changes).toEqual([
    { type: "standing", standing: "member", before: "joining", reason: "arrived" },
    { type: "share", parts: 90, before: 89, reason: "grown" },
  ]);
});

test("the entitlement is the same object while nothing changes", () => {
  const membership = member();
  const before = membership.entitlementAt(10);
  membership.onReply(told(PARTS), 500, 503);
  expect(membership.entitlementAt(510)).toBe(before);
});

test("a settled member with an equal share has a seat, so that shares add up to the ceiling", () => {
  const membership = newMembership();
  membership.onReply(told(PARTS / 2, { members: 2, rank: 1 }), 0, 3);
  expect(membership.entitlementAt(4)).toEqual({ kind: "seat", seat: { poolSize: 2, rank: 1 } });
  membership.onReply(told(PARTS / 4, { members: 2, rank: 1 }), 500, 503);
  membership.onSend(1000);
  expect(membership.entitlementAt(1000)).toEqual(parts(PARTS / 4));
});

test("it reports what it uses, without what it was asked to give back", () => {
  const membership = member();
  membership.onReply(told(PARTS / 2, { members: 2, isRenewed: false }), 500, 503);
  expect(membership.entitlementAt(504)).toEqual(parts(PARTS));
  expect(membership.onSend(1000)).toEqual({ held: PARTS / 2, isHeldUnleased: false });
  expect(membership.entitlementAt(1000)).toEqual(parts(PARTS / 2));
});

test("a reply that is read after the reported lease has ended gives nothing", () => {
  const membership = member();
  membership.onSend(4900);
  // The store may have executed this sync after it had given the share away.
  membership.onReply(told(PARTS), 4900, leaseMs);
  expect(membership.entitlementAt(leaseMs)).toBeUndefined();
  expect(membership.onSend(leaseMs)).toEqual({ held: 0, isHeldUnleased: false });
  membership.onReply(told(PARTS), leaseMs, leaseMs + 3);
  expect(membership.entitlementAt(leaseMs + 3)).toEqual(parts(PARTS));
});

test("late answers of the store change nothing", () => {
  const membership = member();
  expect(membership.onReply({ kind: "late" }, 500, 503)).toEqual([]);
  expect(membership.entitlementAt(504)).toEqual(parts(PARTS));
});

test("a refused member uses nothing, and says why", () => {
  const membership = member();
  expect(membership.onReply({ kind: "refused", why: "id-taken" }, 500, 503)).toEqual([
    { type: "standing", standing: "refused", before: "member", reason: "id-taken" },
  ]);
  expect(membership.entitlementAt(504)).toBeUndefined();
  expect(membership.onSend(1000)).toEqual({ held: 0, isHeldUnleased: false });
  expect(membership.onReply(told(0, { fair: PARTS }), 1000, 1003)[0]).toMatchObject({
    standing: "joining",
    reason: "accepted",
  });
});

test("memory that the store has lost is told, but not that of a new pool", () => {
  const membership = newMembership();
  expect(membership.onReply(told(PARTS, { learningMs: 6000 }), 0, 3)).not.toContainEqual(
    expect.objectContaining({ type: "learning" }),
  );
  membership.onReply(told(PARTS, { learningMs: 5500 }), 500, 503);
  expect(membership.onReply(told(PARTS, { learningMs: 6000 }), 1000, 1003)).toEqual([
    { type: "learning", forMs: 6000 },
  ]);
});

describe("while the store does not answer", () => {
  test("a failed sync changes nothing before the lease ends", () => {
    const membership = member();
    expect(membership.onFailure(500, 510)).toEqual([]);
    expect(membership.entitlementAt(leaseMs - 1)).toEqual(parts(PARTS));
    expect(membership.onSend(1000)).toEqual({ held: PARTS, isHeldUnleased: false });
  });

  const policies = [
    ["safe-share", parts(SAFE), SAFE],
    ["open", parts(PARTS), PARTS],
    ["closed", undefined, 0],
  ] as const;
  test.each(policies)(
    "after the lease it follows onStoreLoss %s, and reports so",
    (policy, uses, held) => {
      const membership = member({ onStoreLoss: policy });
      membership.onFailure(4500, 4500 + timeoutMs);
      // At once when the lease ends, though the next sync has not failed yet.
      expect(membership.entitlementAt(leaseMs)).toEqual(uses);
      expect(membership.onFailure(5000, 5000 + timeoutMs)).toEqual([
        { type: "standing", standing: "lost", before: "member", reason: "lease-ended" },
      ]);
      expect(membership.entitlementAt(6000)).toEqual(uses);
      expect(membership.onSend(6000)).toEqual({ held, isHeldUnleased: true });
      expect(membership.onReply(told(PARTS), 6000, 6003)[0]).toMatchObject({
        standing: "member",
        reason: "store-back",
      });
      expect(membership.entitlementAt(6003)).toEqual(parts(PARTS));
    },
  );

  test("a safe share is no more than an equal share of the members it knows", () => {
    const membership = newMembership();
    membership.onReply(told(PARTS / 20, { members: 20 }), 0, 3);
    membership.onFailure(5000, 5250);
    expect(membership.entitlementAt(5250)).toEqual(parts(PARTS / 20));
  });

  test("a process that was stopped uses nothing until the store has answered", () => {
    const membership = member();
    const stoppedMs = timeoutMs + syncIntervalMs + 1;
    expect(membership.onFailure(20_000 - stoppedMs, 20_000)).toEqual([]);
    expect(membership.entitlementAt(20_000)).toBeUndefined();
    expect(membership.onSend(20_000)).toEqual({ held: 0, isHeldUnleased: false });
  });

  test("a joiner without a share falls to the policy one lease after the last reply", () => {
    const membership = newMembership();
    membership.onReply(told(0, { fair: PARTS }), 0, 3);
    expect(membership.onFailure(4500, 4750)).toEqual([]);
    expect(membership.entitlementAt(4900)).toBeUndefined();
    expect(membership.onFailure(5000, 5250)[0]).toMatchObject({ standing: "lost" });
    expect(membership.entitlementAt(5250)).toEqual(parts(SAFE));
  });

  test("a joiner that the store never answered uses nothing", () => {
    const membership = newMembership();
    expect(membership.onFailure(50_000, 50_250)).toEqual([]);
    expect(membership.entitlementAt(60_000)).toBeUndefined();
  });
});
