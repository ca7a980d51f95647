// A broker in a process of its own, so that its memory and its event loop are its own. It runs what is built.
// It says its port when it is ready, and answers every message with a report on itself.
import { systemTimer } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";
import { startAdmin } from "@sluice/gateway/admin";

const { admin: wantsAdmin = false, ...options } = JSON.parse(process.argv[2] ?? "{}");
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
/** Between two looks at a timer of a millisecond: what the event loop was kept from others. */
let turns = [];
void (async () => {
  for (let last = process.cpuUsage(), at = systemTimer.now(); ;) {
    await systemTimer.sleep(1);
    const { user, system } = process.cpuUsage(last);
    const now = systemTimer.now();
    turns.push({ cpuMs: (user + system) / 1_000, wallMs: now - at });
    last = process.cpuUsage();
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
  const { topics, ...stats } = broker.stats();
  process.send?.({
    ...process.memoryUsage(),
    stats,
    faults,
    reasons,
    topics: topics.length,
  });
});
process.on("disconnect", () => process.exit(0));
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
