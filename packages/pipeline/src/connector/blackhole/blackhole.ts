import type { Sink, SinkConnector } from "../sink.ts";

const WRITTEN: Promise<void> = Promise.resolve();

/** A sink that takes every message and keeps none, for tries and load tests. */
export function blackhole(): SinkConnector {
  const sink: Sink = { write: () => WRITTEN, close: () => WRITTEN };
  return { kind: "blackhole", open: () => Promise.resolve(sink) };
}
