/** Connectors in memory, for tests of pipelines; `@sluice/core/testing` has virtual time. */
export { MemorySource } from "./connectors/memory-source.ts";
export type { MemorySourceOptions } from "./connectors/memory-source.ts";
export { MemorySink } from "./connectors/memory-sink.ts";
export type { OnWrite } from "./connectors/memory-sink.ts";
