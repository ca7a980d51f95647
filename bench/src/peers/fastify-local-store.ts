import { createRequire } from "node:module";

/** What `@fastify/rate-limit` keeps its counts in; the package has no types for it. */
export interface LocalStore {
  incr(
    key: string,
    callback: (error: Error | null, result: { readonly current: number }) => void,
    timeWindowMs: number,
    max: number,
  ): void;
}

type LocalStoreConstructor = new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  cacheSize?: number,
) => LocalStore;

const require = createRequire(import.meta.url);

export const LocalStore =
  require("@fastify/rate-limit/store/LocalStore.js") as LocalStoreConstructor;
