import assert from "node:assert/strict";
import { VirtualTimer } from "@sluice/core/testing";
import { joinFleet, MemoryStore, setPoolLimits } from "@sluice/fleet";

// Time passes only by `advance`; the store is in memory and counts by the same time.
const timer = new VirtualTimer();
const store = new MemoryStore(timer);
const join = (member: string) =>
  joinFleet({
    pool: "payments",
    member,
    store,
    rateLimit: { max: 1000, min: 1000 },
    maxMembers: 8,
    runtime: { timer },
  });

// The first process starts on its safe share, and has the whole ceiling after 6 s.
const first = await join("a");
await timer.advance(600);
assert.equal(first.state().share, 1000 / 8);
await timer.advance(7000);
assert.equal(first.state().share, 1000);

// The calls of a joiner wait for its share, which the first process hands over.
const second = await join("b");
const call = second.acquire(1, { timeoutMs: 5000 });
assert.equal(second.reason, "fleet-joining");
await timer.advance(3000);
assert.equal((await call).count, 1);
assert.deepEqual([first.state().share, second.state().share], [500, 500]);

// Without a wait: a grant or undefined. `pauseMs` then tells when to ask again.
while (first.tryAcquire());
assert(first.pauseMs() > 0);

// For batches: 1 to 100 tokens, what is there. Tokens that were not used go back.
const batch = first.acquireUpTo(100);
await timer.advance(20);
const grant = await batch;
assert(grant.count >= 1 && grant.count <= 100);
grant.deposit({ unused: 1 });

// Limits for all members while they run; each follows at its next sync.
await setPoolLimits(store, "payments", { max: 300, min: 300 });
await timer.advance(500);
assert.equal(first.state().ceiling, 300);

// The share of a member that leaves goes to the others.
await second.leave();
await timer.advance(1000);
assert.equal(first.state().share, 300);
await first.leave();
