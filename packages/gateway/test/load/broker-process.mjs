// A broker in a process of its own, so that its memory and its event loop are its own. It runs what is built.
// Asked over IPC: "ping" → { rss, stats }; it answers its port when it is ready.
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
process.on("message", ({ id, collect }) => {
  if (collect) globalThis.gc?.();
  const { topics, ...stats } = broker.stats();
  process.send?.({
    id,
    rss: process.memoryUsage().rss,
    stats,
    faults,
    reasons,
    topics: topics.length,
  });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: broker.port });
