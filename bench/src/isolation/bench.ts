import { systemTimer } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";
import type { Producer } from "@sluice/pulsar";
import { percentile } from "../broker/percentile.ts";
import { machineLine, thisMachine } from "../machine.ts";
import { short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";

/** The hot topic's limit; it is offered ten times as much. */
const HOT_LIMIT = 500;
const HOT_OFFERED = 10 * HOT_LIMIT;
/** The victim's rate, which has no limit. */
const VICTIM_RATE = 200;
/** What the hot producer may have without a receipt: the default of Pulsar's Python and C++ clients. */
const HOT_PENDING = 1_000;
const PAYLOAD = Buffer.alloc(1024, "sluice");

interface Victim {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  readonly failed: number;
}

interface Isolation {
  readonly alone: Victim;
  readonly beside: Victim;
  readonly hotPerSecond: number;
  readonly pausedConnections: number;
}

/** A victim topic on the connection of a topic at ten times its limit; the text to print. */
export async function benchIsolation({ rounds, quick, json }: BenchOptions): Promise<string> {
  const seconds = quick ? 3 : 60;
  const results: { readonly aware: boolean; readonly measured: Isolation }[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    for (const aware of [false, true])
      results.push({ aware, measured: await isolation(aware, seconds) });
  }
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "isolation", machine, seconds, results });
  const rows = results.map(({ aware, measured }) => rowOf(aware, measured));
  return [
    machineLine(machine),
    "",
    `Victim at ${VICTIM_RATE}/s, ${seconds} s; hot topic limited to ${HOT_LIMIT}/s and offered ${HOT_OFFERED}/s, on one connection`,
    table(
      ["client", "p99 alone, ms", "p99 beside, ms", "goal", "rate", "failed", "hot ÷ limit", ""],
      rows,
    ),
  ].join("\n");
}

function rowOf(aware: boolean, { alone, beside, hotPerSecond }: Isolation): string[] {
  const goalMs = 1.2 * alone.p99Ms + 5;
  const rate = beside.perSecond / alone.perSecond;
  const isMet = beside.p99Ms <= goalMs && rate >= 0.98 && beside.failed === 0;
  return [
    aware ? "aware" : "unaware",
    alone.p99Ms.toFixed(1),
    beside.p99Ms.toFixed(1),
    `≤ ${goalMs.toFixed(1)}`,
    short(rate),
    `${beside.failed}`,
    (hotPerSecond / HOT_LIMIT).toFixed(3),
    isMet ? "met" : "missed",
  ];
}

async function isolation(aware: boolean, seconds: number): Promise<Isolation> {
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    limits: { topics: { "public/default/hot": { messages: HOT_LIMIT } } },
  });
  const client = await connect(broker.url, aware ? {} : { throttle: false });
  try {
    const victim = await client.createProducer({ topic: "victim", batching: false });
    const hot = await client.createProducer({
      topic: "hot",
      batching: false,
      pendingMessagesMax: HOT_PENDING,
    });
    const alone = await publish(victim, VICTIM_RATE, seconds);
    const [beside, hotSide, pausedConnections] = await Promise.all([
      publish(victim, VICTIM_RATE, seconds),
      publish(hot, HOT_OFFERED, seconds),
      pausesOf(() => broker.stats().pausedConnections, seconds),
    ]);
    return { alone, beside, hotPerSecond: hotSide.perSecond, pausedConnections };
  } finally {
    await client.close();
    await broker.close();
  }
}

/** At a steady rate, without waiting for receipts; what waits at the end is given up. */
async function publish(producer: Producer, perSecond: number, seconds: number): Promise<Victim> {
  const latenciesMs: number[] = [];
  const over = new AbortController();
  let failed = 0;
  const startedAtMs = systemTimer.now();
  const total = perSecond * seconds;
  let waiting = 0;
  const send = async (nowMs: number): Promise<void> => {
    try {
      await producer.send({ data: PAYLOAD }, { signal: over.signal });
      if (!over.signal.aborted) latenciesMs.push(systemTimer.now() - nowMs);
    } catch {
      if (!over.signal.aborted) failed++;
    }
    waiting--;
  };
  for (let sent = 0; sent < total;) {
    const nowMs = systemTimer.now();
    if (nowMs >= startedAtMs + seconds * 1000) break;
    const due = Math.min(total, ((nowMs - startedAtMs) / 1000) * perSecond);
    // A full queue drops what is due, as a source that cannot wait does.
    for (; sent < due; sent++) {
      if (waiting >= HOT_PENDING) continue;
      waiting++;
      void send(nowMs);
    }
    await systemTimer.sleep(1);
  }
  const elapsedMs = systemTimer.now() - startedAtMs;
  over.abort();
  return {
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    perSecond: (latenciesMs.length / elapsedMs) * 1000,
    failed,
  };
}

/** Looks, every 10 ms, at which the connection was not read. */
async function pausesOf(paused: () => number, seconds: number): Promise<number> {
  let pauses = 0;
  for (let looks = 0; looks < seconds * 100; looks++) {
    pauses += paused();
    await systemTimer.sleep(10);
  }
  return pauses;
}
