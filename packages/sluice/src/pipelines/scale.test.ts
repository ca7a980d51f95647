import { expect, test } from "vitest";
import { desiredReplicas } from "./scale.ts";

const BUSY = { members: 2, backlog: 0, perSecond: 100, ceiling: undefined, reason: undefined };

test("a backlog that the replicas do not read in 20 s asks for more of them", () => {
  // 2 replicas read 200/s: 12,000 messages take them 60 s, and 6 of them 20 s.
  expect(desiredReplicas({ ...BUSY, backlog: 12_000 })).toBe(6);
});

test("replicas that read their backlog sooner are halved, step by step, down to one", () => {
  expect(desiredReplicas({ ...BUSY, members: 8, backlog: 10 })).toBe(4);
  expect(desiredReplicas({ ...BUSY, members: 1 })).toBe(1);
  // The ceiling keeps none of them.
  expect(desiredReplicas({ ...BUSY, members: 8, ceiling: 800, reason: "fleet-share" })).toBe(4);
});

test("while the ceiling is the limit, no more replicas are asked for, however long the backlog", () => {
  const full = { ...BUSY, backlog: 1e6, ceiling: 200 };
  expect(desiredReplicas(full)).toBe(2);
  expect(desiredReplicas({ ...full, ceiling: 1_000, reason: "fleet-share" })).toBe(2);
});

test("a ramp that has not come to its end is a ceiling too", () => {
  const ramping = { ...BUSY, backlog: 1e6, perSecond: 5, ceiling: 10 };
  expect(desiredReplicas(ramping)).toBe(2);
});

test("while the service is the limit, no more replicas are asked for", () => {
  for (const reason of ["concurrency", "peer-busy", "retry-after", "rate"] as const)
    expect(desiredReplicas({ ...BUSY, backlog: 1e6, reason })).toBe(2);
});

test("a ceiling above the present rate bounds what is asked for", () => {
  expect(desiredReplicas({ ...BUSY, backlog: 1e6, ceiling: 500 })).toBe(5);
});

test("without a known backlog or rate, as many are asked for as run", () => {
  expect(desiredReplicas({ ...BUSY, backlog: undefined })).toBe(2);
  expect(desiredReplicas({ ...BUSY, perSecond: 0, backlog: 1e6 })).toBe(2);
  expect(desiredReplicas({ ...BUSY, members: 0, backlog: undefined })).toBe(1);
});
