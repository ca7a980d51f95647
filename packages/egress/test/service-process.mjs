/**
 * A service in a process of its own: workers with one line before them, and a quota if it is told one.
 *
 * Started with `fork`. Its one argument is JSON: `{ port, workers, serviceMs, quota }`; port 0 is any
 * free one, `serviceMs` the mean of exponential times, `quota` nothing or `{ perSecond, burst,
 * retryAfterS }`. It sends `{ port }` when it listens and its counts for every message it gets, and ends
 * with its parent. What a worker begins is written to stdout at once, a line of method and path: that
 * outlives even a SIGKILL.
 *
 * A refusal that says when to come back also says it by this process's own clock, in `x-come-back-at`.
 * Clients send the latest one they were told as `x-told`, so what comes too early is seen here, and what
 * was already on its way is not taken for it.
 */
// Node runs it as it stands, so there are no types to check.
/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-return */
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import { systemRandom, systemTimer } from "@sluice/core/system";

/** A port may need a moment until it is free again. */
const LISTEN_TRIES = 100;
const LISTEN_AGAIN_MS = 20;
/** Far more than any client keeps under way; beyond it the line is broken off. */
const LINE_MAX = 10_000;
const STDOUT = 1;

const { port, workers, serviceMs, quota } = JSON.parse(process.argv[2] ?? "{}");
const line = [];
const counts = { requests: 0, served: 0, busy: 0, early: 0, inFlight: 0, most: 0 };
let idle = workers;
let quotaFreeAtMs = 0;

const server = createServer((request, response) => {
  const nowMs = systemTimer.now();
  counts.requests++;
  counts.inFlight++;
  counts.most = Math.max(counts.most, counts.inFlight);
  response.on("close", () => counts.inFlight--);
  if (Number(request.headers["x-told"] ?? 0) > nowMs) counts.early++;
  request.resume();
  if (!isWithinQuota(nowMs)) refuse(response, nowMs);
  else if (line.length < LINE_MAX) begin({ request, response });
  else response.destroy();
});

process.on("message", () => process.send(counts));
process.on("disconnect", () => process.exit());
await listen();
process.send({ port: server.address().port });

function begin(job) {
  if (idle === 0) {
    line.push(job);
    return;
  }
  idle--;
  void work(job);
}

async function work(first) {
  for (let job = first; job !== undefined; job = line.shift()) {
    const { request, response } = job;
    if (response.destroyed) continue;
    writeSync(STDOUT, `${request.method} ${request.url}\n`);
    await systemTimer.sleep(-Math.log(1 - systemRandom.next()) * serviceMs);
    counts.served++;
    response.end("done");
  }
  idle++;
}

function isWithinQuota(nowMs) {
  if (quota === undefined) return true;
  const { perSecond, burst } = quota;
  if (quotaFreeAtMs - nowMs > ((burst - 1) * 1000) / perSecond) return false;
  quotaFreeAtMs = Math.max(quotaFreeAtMs, nowMs) + 1000 / perSecond;
  return true;
}

function refuse(response, nowMs) {
  counts.busy++;
  const { retryAfterS } = quota;
  if (retryAfterS !== undefined) {
    response.setHeader("retry-after", retryAfterS);
    response.setHeader("x-come-back-at", nowMs + retryAfterS * 1000);
  }
  response.writeHead(429).end();
}

async function listen() {
  for (let tries = 1; ; tries++) {
    const error = await new Promise((resolve) => {
      server.once("error", resolve);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", resolve);
        resolve(undefined);
      });
    });
    if (error === undefined) return;
    if (error.code !== "EADDRINUSE" || tries >= LISTEN_TRIES) throw error;
    await systemTimer.sleep(LISTEN_AGAIN_MS);
  }
}
