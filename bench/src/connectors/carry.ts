import { systemClock } from "@sluice/core/system";
import { generator, pipeline } from "@sluice/pipeline";
import type { SinkConnector, SourceConnector } from "@sluice/pipeline";
import { heapNow } from "./heap.ts";
import type { Heap } from "./heap.ts";

/** One measurement of the heap for each part of the messages. */
const PARTS = 10;
/** The first parts are not compared: pools and code caches fill. */
const WARM_UP_PARTS = 2;
/** A run that takes longer is stopped, and tells how far it came. */
const RUN_MAX_MS = 55 * 60_000;

export interface Carried {
  /** Messages that came through; fewer than asked for if the time was over. */
  readonly count: number;
  readonly perSecond: number;
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
  if (heaps.length < WARM_UP_PARTS + 2)
    throw new Error(`only ${read} of ${count} messages came within the time`);
  const [first, ...later] = heaps.slice(WARM_UP_PARTS);
  const largest = Math.max(...later.map(({ used }) => used));
  return {
    count: read,
    perSecond: (read * 1000) / (systemClock.now() - startMs),
    growth: largest / (first?.used ?? 0),
    heapMb: largest / 1e6,
    externalMb: Math.max(...later.map(({ external }) => external)) / 1e6,
  };
}

function values(index: number): object {
  return { order: index, note: "x".repeat(80) };
}
