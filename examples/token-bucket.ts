import assert from "node:assert/strict";
import { TokenBucket } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";

// A program leaves the clock out and gets the real one; a test moves the time itself.
const clock = new VirtualClock();
const bucket = new TokenBucket({ rate: 100, capacity: 200, initialTokens: 200, clock });

assert.equal(bucket.tryAcquire(150), true);
assert.equal(bucket.tryAcquire(60), false); // 50 are left
assert.equal(bucket.pauseMs(60), 100); // ten more come in 100 ms
clock.advance(100);
assert.equal(bucket.tryAcquire(60), true);
