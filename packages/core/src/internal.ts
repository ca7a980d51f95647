/** For the sibling packages of Sluice only: `@sluice/core/internal`. Changes without notice. */
export { addAbortListener, removeAbortListener } from "./abort/abort-listeners.ts";
export type { AbortListener } from "./abort/abort-listeners.ts";
