import assert from "node:assert/strict";
import { VirtualTimer } from "@sluice/core/testing";
import { joinFleet, MemoryStore, setPoolLimits } from "@sluice/fleet";

// A program takes `redisStore({ url })`, and leaves `runtime` out.
const timer = new VirtualTimer();
const store = new MemoryStore(timer);

// Two processes of one pool. Joining takes about a lease: the shares of all others shrink first.
const rateLimit = {
  max: 1000,
  min: 10,
  rampUpDuration: "60s",
  modes: { goBackN: { thresholdPercentage: 50, coolDownPeriod: "5s", rampDownPercentage: 50 } },
  resumedRampUp: true,
};
const joining = ["a", "b"].map((member) =>
  joinFleet({
    pool: "shop/orders/out",
    member,
    store,
    rateLimit,
    share: "equal",
    runtime: { timer },
  }),
);
await timer.advance(10_000);
const [limiter, other] = await Promise.all(joining);
assert(limiter !== undefined && other !== undefined);

// `acquire` waits for all its tokens, and rejects if they cannot be had in time.
const { signal } = new AbortController();
const acquiring = limiter.acquire(1, { timeoutMs: 1000, signal });
await timer.advance(1000);
assert.equal((await acquiring).count, 1);

// `tryAcquire` answers at once: a grant, or undefined. `pauseMs` then tells when to ask again.
let sent = 0;
while (limiter.tryAcquire()) sent++;
assert(sent <= 1 && limiter.pauseMs() > 0);

// For batches: as many tokens as are there, from 1 to 500, and why there were no more.
const batch = limiter.acquireUpTo(500);
await timer.advance(1000);
const grant = await batch;
assert(grant.count >= 1 && grant.count <= 500);
assert.equal(grant.reason, "fleet-share");

// What was not used goes back, never more than was granted.
assert.equal(grant.deposit({ unused: 120, dropped: 7 }), grant.count);

// The ramp starts at 10 tokens a second for the whole pool, and each of the two has half of them.
assert.equal(limiter.state().membership?.size, 2);
assert.equal(limiter.state().share, 5);

// Limits can be changed for all members while they run; they know it at their next sync.
const { modes, rampUpDuration } = rateLimit;
await setPoolLimits(store, "shop/orders/out", { max: 500, min: 100, rampUpDuration, modes });
await timer.advance(1000);
assert.equal(limiter.state().share, 50);

// The other leaves, and its share is free at once; it grows over to those who stay after a lease.
await other.leave();
await timer.advance(7000);
assert.equal(limiter.state().membership?.size, 1);
await limiter.leave();
await store.close();
