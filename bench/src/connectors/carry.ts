import { systemClock } from "@sluice/core/system";
import { generator, pipeline } from "@sluice/pipeline";
import type { SinkConnector, SourceConnector } from "@sluice/pipeline";
import { heapNow } from "./heap.ts";
import type { Heap } from "./heap.ts";

/** One measurement of the heap for each part of the messages. */
const PARTS = 40;
/** Heaps before are not compared: pools fill and code is compiled. At most a fifth of the messages. */
const WARM_UP_COUNT = 1_000_000;
const WARM_UP_PART = 0.2;
/** A run that takes longer is stopped, and tells how far it came. */
const RUN_MAX_MS = Number(process.env["BENCH_MINUTES"] ?? 55) * 60_000;

export interface Carried {
  /** Messages that came through; fewer than asked for if the time was over. */
  readonly count: number;
  readonly perSecond: number;
  /** Messages a second of CPU time of this process, which writes and reads them. */
  readonly perCpuSecond: number;
  /** The largest later heap divided by the first one after the warm-up. The writer ends first, which only frees memory. */
  readonly growth: number;
  readonly heapMb: number;
  /** Buffers outside of the heap, at most. They depend on what is in flight when they are counted. */
  readonly externalMb: number;
}

/** Sends messages of about 100 bytes into a sink by one pipeline and reads them by another, both at once. */
export async function carry(
  { sink, source }: { readonly sink: SinkConnector; readonly source: SourceConnector },
  count: number,
): Promise<Carried> {
  const heaps: Heap[] = [];
  const startMs = systemClock.now();
  const startCpu = process.cpuUsage();
  let read = 0;
  const signal = AbortSignal.timeout(RUN_MAX_MS);
  const reader = new AbortController();
  const counter: SinkConnector = {
    kind: "counter",
    open: () =>
      Promise.resolve({
        write: (messages) => {
          const before = Math.floor((read * PARTS) / count);
          read += messages.length;
          if (Math.floor((read * PARTS) / count) > before) heaps.push(heapNow());
          if (read >= count) reader.abort();
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
  };
  const reading = await pipeline("read")
    .source(source)
    .sink(counter)
    .start({ signal: AbortSignal.any([signal, reader.signal]) });
  const writing = await pipeline("write")
    .source(generator({ values, count }))
    .sink(sink)
    .start({ signal });
  await Promise.all([writing.done, reading.done]);
  const warmUpParts = Math.ceil(Math.min(WARM_UP_COUNT / count, WARM_UP_PART) * PARTS);
  // The heap at the end of the warm-up is the first that counts.
  const [first, ...later] = heaps.slice(warmUpParts - 1);
  if (later.length === 0) throw new Error(`only ${read} of ${count} messages came within the time`);
  const largest = Math.max(...later.map(({ used }) => used));
  const { user, system } = process.cpuUsage(startCpu);
  return {
    count: read,
    perSecond: (read * 1000) / (systemClock.now() - startMs),
    perCpuSecond: (read * 1e6) / (user + system),
    growth: largest / (first?.used ?? 0),
    heapMb: largest / 1e6,
    externalMb: Math.max(...later.map(({ external }) => external)) / 1e6,
  };
}

function values(index: number): object {
  return { order: index, note: "x".repeat(80) };
}
