import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { limitHttp } from "@sluice/egress/server";

// Two requests a minute for each client, and at most 100 of all clients in hand at once.
const limit = limitHttp({ rate: "2/min", concurrency: 100 });
const server = createServer((request, response) => {
  void limit(request, response, () => response.end("hello"));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

// Answers say what is left. What is over the quota is refused, costs nothing and says for how long.
const first = await fetch(url);
assert.equal(await first.text(), "hello");
assert.equal(first.headers.get("RateLimit-Policy"), '"default";q=2;w=60');
assert.match(first.headers.get("RateLimit") ?? "", /^"default";r=1;t=\d+$/);
assert.equal((await fetch(url)).status, 200);
const refused = await fetch(url);
assert.equal(refused.status, 429);
assert(Number(refused.headers.get("Retry-After")) <= 30);
assert.equal(refused.headers.get("Content-Type"), "application/problem+json");

server.closeAllConnections();
server.close();
