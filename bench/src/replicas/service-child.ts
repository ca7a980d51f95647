/** The service in a process of its own, so that what the bench does is not in its figures. */
import { constants, setPriority } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { CountingService } from "./counting-service.ts";
import type { Arrival } from "./figures.ts";
import type { ServiceNews } from "./service-process.ts";

/** Between two timers that measure how late timers are, and between two messages to the bench, ms. */
const TICK_MS = 10;
const SEND_MS = 50;

// The process measures: what it notes late because another process has the core would count as the replicas' excess.
try {
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  // Not permitted: the timers below say how late it was.
}
const delay = monitorEventLoopDelay({ resolution: TICK_MS });
let arrivals: Arrival[] = [];
const service = new CountingService((arrival) => arrivals.push(arrival));
await service.start();
delay.enable();
send({ url: service.url });
setInterval(report, SEND_MS);
process.once("disconnect", () => process.exit());

function report(): void {
  const [lateMs, latestMs] = [delay.percentile(99), delay.max].map((ns) => ns / 1e6 - TICK_MS);
  send({ arrivals, lateness: { lateMs: lateMs ?? 0, latestMs: latestMs ?? 0 } });
  arrivals = [];
}

function send(news: ServiceNews): void {
  process.send?.(news);
}
