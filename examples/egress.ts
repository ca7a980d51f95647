import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@sluice/core/system";
import { throttledFetch } from "@sluice/egress";

// A service that, at its second request, wants to be left alone for a second.
let requests = 0;
const service = createServer((_, response) => {
  requests++;
  if (requests === 2) response.writeHead(429, { "Retry-After": "1" });
  response.end("hello");
});
service.listen(0, "127.0.0.1");
await once(service, "listening");
const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

// Used like `fetch`. Every origin gets a gate: a rate, a limit that finds itself, and retries.
const fetch = throttledFetch({
  concurrency: "adaptive",
  rate: "100/s",
  retry: { attempts: 3 },
  call: { deadlineMs: 10_000 },
});
assert.equal(await (await fetch(origin)).text(), "hello");

// The 429 is not seen: the request is made again, a second later and never sooner.
const askedAtMs = systemClock.now();
assert.equal(await (await fetch(origin)).text(), "hello");
assert(systemClock.now() - askedAtMs >= 1000);
assert.equal(requests, 3);

// A pause is one for all callers. Who will not wait is told why, and for how long.
const gate = fetch.gates.for(origin);
gate.pause(500);
const told = gate.tryAcquire();
assert.equal(told.refused, "retry-after");
assert(told.retryAfterMs !== undefined && told.retryAfterMs > 400);
assert.equal(gate.why()?.reason, "retry-after");

fetch.gates.close();
service.closeAllConnections();
service.close();
