// The service of `npm start`: payments, a real HTTP server in a process of its own. It works on a few requests at
// once and queues the others, so it gets slower under load; with a full queue it answers 503. Once in a while it takes
// only a few requests a second and answers the others 429, as a service that protects its database. Usage:
// node service.mjs [port]
import { once } from "node:events";
import { createServer } from "node:http";
import { TokenBucket } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";

const [port = "0"] = process.argv.slice(2);

/** Milliseconds of one request. 12 workers ÷ 50 ms = 240 requests a second. */
const WORK_MS = 50;
const WORKERS = 12;

/** Requests that wait for a worker. Raised, the service gets slower before it says busy. */
const QUEUE_MAX = 24;

/** Every 30 s it takes 80 requests a second for 6 s. */
const WEAK = { everyMs: 30_000, forMs: 6_000 };
const weakRate = new TokenBucket({ rate: 80, capacity: 8 });

let working = 0;
const waiting = [];
const startedAtMs = systemTimer.now();

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => {
    if (isWeak() && !weakRate.tryAcquire()) answer(response, 429, "busy");
    else if (working < WORKERS) void work(response);
    else if (waiting.length < QUEUE_MAX) waiting.push(response);
    else answer(response, 503, "busy");
  });
});
server.listen(Number(port), "127.0.0.1");
await once(server, "listening");
console.log(JSON.stringify({ event: "ready", url: `http://127.0.0.1:${server.address().port}` }));

for (const signal of ["SIGINT", "SIGTERM", "disconnect"])
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });

function isWeak() {
  return (systemTimer.now() - startedAtMs) % WEAK.everyMs > WEAK.everyMs - WEAK.forMs;
}

async function work(response) {
  working++;
  await systemTimer.sleep(WORK_MS);
  answer(response, 200, "paid");
  working--;
  if (working < WORKERS && waiting.length > 0) void work(waiting.shift());
}

function answer(response, status, text) {
  response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
}
