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

export const LocalStore = createRequire(import.meta.url)(
  "@fastify/rate-limit/store/LocalStore.js",
) as LocalStoreConstructor;
