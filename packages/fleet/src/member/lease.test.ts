import { expect, test } from "vitest";
import { NO_LEASE, release, retell, usableParts } from "./lease.ts";

const LEASE_MS = 5000;
const at = (sentAtMs: number, nowMs: number = sentAtMs + 3) => ({
  sentAtMs,
  nowMs,
  leaseMs: LEASE_MS,
});

test("a lease counts from the send of the sync that renewed it", () => {
  const lease = retell(NO_LEASE, { told: 40, isRenewed: true }, at(1000, 1240));
  expect([5999, 6000].map((nowMs) => usableParts(lease, nowMs))).toEqual([40, 0]);
});

test("what is asked back is used until the next send, on the lease it had", () => {
  const whole = retell(NO_LEASE, { told: 100, isRenewed: true }, at(1000));
  const asked = retell(whole, { told: 70, isRenewed: false }, at(1500));
  expect([1504, 5999, 6000].map((nowMs) => usableParts(asked, nowMs))).toEqual([100, 100, 0]);
  const released = release(asked);
  expect([1504, 5999, 6000].map((nowMs) => usableParts(released, nowMs))).toEqual([70, 70, 0]);
});

test("a renewal after an ask-back does not lengthen the lease on what was asked back", () => {
  const whole = retell(NO_LEASE, { told: 100, isRenewed: true }, at(1000));
  const asked = retell(whole, { told: 50, isRenewed: true }, at(4000));
  expect([5999, 6000, 8999, 9000].map((nowMs) => usableParts(asked, nowMs))).toEqual([
    100, 50, 50, 0,
  ]);
});

test("a share that has ended is not used again by a reply that takes some of it back", () => {
  const whole = retell(NO_LEASE, { told: 100, isRenewed: true }, at(1000));
  const late = retell(whole, { told: 70, isRenewed: false }, at(5990, 6100));
  expect(usableParts(late, 6100)).toBe(0);
});
