// A broker in a process of its own, so that its memory and its event loop are its own. It runs what is built.
// It says its port when it is ready, and answers every message with a report on itself.
import { systemTimer } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";

const options = JSON.parse(process.argv[2] ?? "{}");
const faults = [];
const reasons = {};
const broker = await startBroker({
  listen: "pulsar://127.0.0.1:0",
  data: "memory",
  observe: (event) => {
    if (event.kind === "error") faults.push(String(event.error));
    if (event.kind === "client-closed") reasons[event.reason] = (reasons[event.reason] ?? 0) + 1;
  },
  ...options,
});
/** CPU time between two looks at a timer of a millisecond: what the event loop was kept from others. */
let turnsMs = [];
void (async () => {
  for (let last = process.cpuUsage(); ;) {
    await systemTimer.sleep(1);
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    turnsMs.push((user + system) / 1_000);
    if (turnsMs.length > 100_000) turnsMs = [];
  }
})();

/** Since the last time. */
function loopCpu() {
  const sorted = turnsMs.toSorted((one, other) => one - other);
  turnsMs = [];
  return { p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0, maxMs: sorted.at(-1) ?? 0 };
}

process.on("message", ({ ask, collect }) => {
  if (ask === "loop") {
    process.send?.({ ...loopCpu(), faults });
    return;
  }
  if (collect) globalThis.gc?.();
  const { topics, ...stats } = broker.stats();
  process.send?.({
    rss: process.memoryUsage().rss,
    stats,
    faults,
    reasons,
    topics: topics.length,
  });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: broker.port });
