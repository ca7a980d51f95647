import assert from "node:assert/strict";
import { CompoundLimiter, FairQueue, MultiLevelLimiter } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";

// Two topics with limits of their own, in messages and bytes, under one limit of the broker.
const clock = new VirtualClock();
const reason = "topic-rate";
const topicRates = { messages: { rate: 80 }, bytes: { rate: 1_000_000 } };
const broker = new CompoundLimiter({ reason: "broker-rate", messages: { rate: 100 }, clock });
const orders = new MultiLevelLimiter([
  new CompoundLimiter({ ...topicRates, reason, clock }),
  broker,
]);
const audit = new MultiLevelLimiter([
  new CompoundLimiter({ ...topicRates, reason, clock }),
  broker,
]);

// Charged for what was accepted, and told how long to pause and why.
assert.equal(orders.chargeAndCheck(70, 7_000), true);
assert.equal(audit.chargeAndCheck(40, 4_000), false);
assert.deepEqual(audit.throttling(), { durationMs: 110, reason: "broker-rate" });

// During the pause, items wait and are released in fair turns; every release is charged.
const waiting = new FairQueue<string>();
const noisy = { id: "noisy", payer: () => orders };
const quiet = { id: "quiet", payer: () => orders };
for (const item of ["n1", "n2", "n3"]) waiting.tryPush(noisy, item, { messages: 1, bytes: 100 });
waiting.tryPush(quiet, "q1", { messages: 1, bytes: 100 });
assert.equal(waiting.nextReleaseMs(), 110);
clock.advance(130);
assert.deepEqual(waiting.release(), ["n1", "q1", "n2"]);
