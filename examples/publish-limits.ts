import assert from "node:assert/strict";
import { CompoundLimiter, FairQueue, MultiLevelLimiter } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";

// Two topics with limits of their own, in messages and bytes, under one limit of the broker.
const clock = new VirtualClock();
const broker = new CompoundLimiter(clock, "broker-rate", { messages: { rate: 100 } });
const limits = ["orders", "audit"].map((topic) => ({
  topic,
  limiter: new MultiLevelLimiter(clock, [
    new CompoundLimiter(clock, "topic-rate", {
      messages: { rate: 80 },
      bytes: { rate: 1_000_000 },
    }),
    broker,
  ]),
}));
const [orders, audit] = limits;
assert(orders && audit);

// Charged for what was accepted, and told why to pause.
assert.equal(orders.limiter.chargeAndCheck(70, 7_000), undefined);
assert.equal(audit.limiter.chargeAndCheck(40, 4_000), "broker-rate");
assert.deepEqual(audit.limiter.pause(), { pauseMs: 110, reason: "broker-rate" });

// While they pause, what waits is released in turns; every release is paid for.
const waiting = new FairQueue<string>({
  quantum: { messages: 1, bytes: 64_000 },
  maxFlows: 100,
  maxItemsPerFlow: 1_000,
});
const noisy = { id: "noisy", purse: orders.limiter };
const quiet = { id: "quiet", purse: orders.limiter };
for (const item of ["n1", "n2", "n3"]) waiting.tryPush(noisy, item, { messages: 1, bytes: 100 });
waiting.tryPush(quiet, "q1", { messages: 1, bytes: 100 });
clock.advance(130);
assert.deepEqual(waiting.release(clock.now()), ["n1", "q1", "n2"]);
