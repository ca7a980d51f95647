// The service of `npm start`: payments, a real HTTP server in a process of its own. It works on a few requests at
// once and queues the others, so it gets slower under load; with a full queue it answers 503. In each 100 s it protects
// its database once, by 429 for all but a few requests a second, and is slow once. Usage: node service.mjs [port]
import { once } from "node:events";
import { createServer } from "node:http";
import { TokenBucket } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";

const [port = "0"] = process.argv.slice(2);

/** Milliseconds of one request. 16 workers ÷ 50 ms = 320 requests a second; while it is slow, 16 ÷ 200 ms = 80. */
const WORK_MS = 50;
const SLOW_WORK_MS = 200;
const WORKERS = 16;

/** Requests that wait for a worker. Raised, the service gets slower before it says busy. */
const QUEUE_MAX = 48;

/** The story of each 100 s. Between the two it answers as fast as it can. */
const EVERY_MS = 100_000;
const WEAK = { fromMs: 14_000, toMs: 20_000 };
const SLOW = { fromMs: 45_000, toMs: 60_000 };

/** What it takes while it is weak. */
const weakRate = new TokenBucket({ rate: 80, capacity: 8 });

let working = 0;
const waiting = [];
const startedAtMs = systemTimer.now();

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => {
    if (isIn(WEAK) && !weakRate.tryAcquire()) answer(response, 429, "busy");
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

function isIn({ fromMs, toMs }) {
  const phaseMs = (systemTimer.now() - startedAtMs) % EVERY_MS;
  return phaseMs >= fromMs && phaseMs < toMs;
}

async function work(response) {
  working++;
  await systemTimer.sleep(isIn(SLOW) ? SLOW_WORK_MS : WORK_MS);
  answer(response, 200, "paid");
  working--;
  if (working < WORKERS && waiting.length > 0) void work(waiting.shift());
}

function answer(response, status, text) {
  response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
}
