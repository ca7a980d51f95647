/** Connectors in memory, for tests of pipelines; `@sluice/core/testing` has virtual time. */
export { MemorySource } from "./connector/memory/memory-source.ts";
export type { MemorySourceOptions } from "./connector/memory/memory-source.ts";
export { MemorySink } from "./connector/memory/memory-sink.ts";
export type { OnWrite } from "./connector/memory/memory-sink.ts";
