// Several producers, each as fast as it may or at a steady rate; see interop/drivers/flood.ts. Each producer of
// pulsar-flex has a connection of its own.
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf } from "./command-line.mjs";

/** It gives up on a request after ten seconds, so not too many may wait. */
const PENDING_MAX = 500;

export async function floodFlows(producers, { flows, durationMs }) {
  const startedMs = performance.now();
  const run = (told, place) => floodFlow(producers[place], told, { startedMs, durationMs });
  return Promise.all(flows.map(run));
}

async function floodFlow(producer, told, { startedMs, durationMs }) {
  const { ratePerSecond, fromMs = 0, sizeBytes, maxPending = PENDING_MAX } = told;
  const outcome = { sent: 0, failed: 0, error: "", receiptAtMs: [], latencyMs: [] };
  const open = { pending: 0 };
  const events = new EventEmitter();
  await sleep(fromMs);
  for (;;) {
    const nowMs = performance.now() - startedMs;
    const dueMs =
      ratePerSecond === undefined ? nowMs : fromMs + (outcome.sent * 1000) / ratePerSecond;
    if (nowMs >= durationMs || dueMs >= durationMs) break;
    if (dueMs > nowMs) await sleep(dueMs - nowMs);
    open.pending++;
    void send(producer, bodyOf(outcome.sent++, { sizeBytes }), outcome, startedMs).finally(() => {
      open.pending--;
      events.emit("settled");
    });
    while (open.pending >= maxPending) await once(events, "settled");
  }
  while (open.pending > 0) await once(events, "settled");
  return outcome;
}

async function send(producer, payload, outcome, startedMs) {
  const sentMs = performance.now();
  try {
    await producer.sendMessage({ payload, properties: {} });
    outcome.receiptAtMs.push(performance.now() - startedMs);
    outcome.latencyMs.push(performance.now() - sentMs);
  } catch (error) {
    outcome.failed++;
    outcome.error ||= String(error);
  }
}
