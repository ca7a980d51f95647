// A broker, or a gateway if there is an upstream, in a process of its own, so that its memory and its event
// loop are its own. It runs what is built.
// It says its port when it is ready, and answers every message with a report on itself.
import { openSync, readSync } from "node:fs";
import { systemTimer } from "@sluice/core/system";
import { startBroker, startGateway } from "@sluice/gateway";

const { admin: wantsAdmin = false, ...options } = JSON.parse(process.argv[2] ?? "{}");
const faults = [];
const reasons = {};
const isGateway = "upstream" in options;
const start = isGateway ? startGateway : startBroker;
const broker = await start({
  listen: "pulsar://127.0.0.1:0",
  ...(isGateway ? {} : { data: "memory" }),
  observe: (event) => {
    if (event.kind === "error") faults.push(String(event.error));
    if (event.kind === "client-closed" || event.kind === "client-refused")
      reasons[event.reason] = (reasons[event.reason] ?? 0) + 1;
  },
  ...options,
});
/**
 * CPU time of the thread that runs the event loop. `process.cpuUsage` adds the threads of the garbage
 * collector, which keep nobody waiting; without Linux's accounts of threads there is nothing better.
 */
const cpuNowMs = process.platform === "linux" ? threadCpu() : processCpu;

function processCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function threadCpu() {
  const account = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const text = Buffer.alloc(64);
  return () => Number.parseInt(text.toString("latin1", 0, readSync(account, text, 0, 64, 0))) / 1e6;
}

/** Between two looks at a timer of a millisecond: what the event loop was kept from others. */
let turns = [];
void (async () => {
  for (let last = cpuNowMs(), at = systemTimer.now(); ;) {
    await systemTimer.sleep(1);
    const now = systemTimer.now();
    turns.push({ cpuMs: cpuNowMs() - last, wallMs: now - at });
    last = cpuNowMs();
    at = now;
    if (turns.length > 100_000) turns = [];
  }
})();

function timesOf(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return { p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0, maxMs: sorted.at(-1) ?? 0 };
}

/** Since the last time. */
function loopTimes() {
  const seen = turns;
  turns = [];
  return {
    cpu: timesOf(seen.map(({ cpuMs }) => cpuMs)),
    wall: timesOf(seen.map(({ wallMs }) => wallMs)),
  };
}

process.on("message", ({ ask, collect }) => {
  if (ask === "loop") {
    process.send?.({ ...loopTimes(), faults });
    return;
  }
  if (collect) globalThis.gc?.();
  const { topics = [], ...stats } = broker.stats();
  process.send?.({
    ...process.memoryUsage(),
    peakRss: process.resourceUsage().maxRSS * 1_024,
    stats,
    faults,
    reasons,
    topics: topics.length,
  });
});
process.on("SIGTERM", () => {
  void broker.close().then(() => process.exit(faults.length === 0 ? 0 : 1));
});
process.on("disconnect", () => process.exit(0));
// Its code is 3 MB, which a broker without administration does not have.
const { startAdmin } = wantsAdmin === true ? await import("@sluice/gateway/admin") : {};
const admin =
  wantsAdmin === true
    ? await startAdmin({
        broker,
        listen: "127.0.0.1:0",
        version: "load",
        onError: (error) => faults.push(String(error)),
      })
    : undefined;
for (const kind of ["uncaughtException", "unhandledRejection"])
  process.on(kind, (error) => faults.push(`${kind}: ${String(error)}`));
process.send?.({ ready: broker.port, admin: admin?.url });
