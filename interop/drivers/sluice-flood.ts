import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Producer } from "@sluice/pulsar";
import { bodyOf } from "../cases/body.ts";
import type { FloodCommand, FloodedFlow, FloodFlow, FloodOutcome } from "./flood.ts";

const PENDING_MAX = 1_000;

/** Our own client, in this process. */
export async function sluiceFlood(
  serviceUrl: string,
  command: FloodCommand,
  onReady: () => void,
): Promise<FloodOutcome> {
  const { token, caFile, durationMs } = command;
  const tls = caFile === undefined ? undefined : { ca: await readFile(caFile, "utf8") };
  const client = await connect(serviceUrl, { token, tls });
  try {
    const producers: Producer[] = [];
    for (const { topic, batching } of command.flows)
      producers.push(await client.createProducer({ topic, batching }));
    onReady();
    const startedMs = systemTimer.now();
    const flows = await Promise.all(
      command.flows.map((flow, place) =>
        flood(producers[place] as Producer, flow, { startedMs, durationMs }),
      ),
    );
    return { flows };
  } finally {
    await client.close();
  }
}

async function flood(
  producer: Producer,
  { ratePerSecond, fromMs = 0, sizeBytes, maxPending = PENDING_MAX }: FloodFlow,
  { startedMs, durationMs }: { readonly startedMs: number; readonly durationMs: number },
): Promise<FloodedFlow> {
  const receiptAtMs: number[] = [];
  const latencyMs: number[] = [];
  const errors: unknown[] = [];
  const events = new EventEmitter();
  const open = { pending: 0 };
  let sent = 0;
  const send = async (): Promise<void> => {
    const sentMs = systemTimer.now();
    try {
      await producer.send({ data: bodyOf(sent++, { sizeBytes }) });
      receiptAtMs.push(systemTimer.now() - startedMs);
      latencyMs.push(systemTimer.now() - sentMs);
    } catch (error) {
      errors.push(error);
    }
    open.pending--;
    events.emit("settled");
  };
  await systemTimer.sleep(fromMs);
  for (;;) {
    const nowMs = systemTimer.now() - startedMs;
    const dueMs = ratePerSecond === undefined ? nowMs : fromMs + (sent * 1_000) / ratePerSecond;
    if (nowMs >= durationMs || dueMs >= durationMs) break;
    if (dueMs > nowMs) await systemTimer.sleep(dueMs - nowMs);
    open.pending++;
    void send();
    while (open.pending >= maxPending) await once(events, "settled");
  }
  while (open.pending > 0) await once(events, "settled");
  const error = errors.length === 0 ? "" : String(errors[0]);
  return { sent, failed: errors.length, error, receiptAtMs, latencyMs };
}
