import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { MapConnector } from "./map-connector.ts";
import { batchMapper } from "./map-batch.ts";
import type { MapBatchFunction } from "./map-batch.ts";
import { functionMapper } from "./map-function.ts";
import type { MapFunction, MapOptions } from "./map-function.ts";
import type { Mapper } from "./mapper.ts";

export interface MapModuleOptions extends MapOptions {
  /** A path, relative to the working directory, or a `file:` address. */
  readonly module: string | URL;
  /**
   * Raised to load a changed module again. Node never frees a module, so every version stays in memory until the process
   * ends; and what the module imports is not loaded again. `mapThreads` has neither bound. Default: 0.
   */
  readonly version?: number | undefined;
}

const KEYS: ReadonlySet<string> = new Set([
  "module",
  "settings",
  "timeoutMs",
  "version",
] satisfies (keyof MapModuleOptions)[]);

/**
 * A map in a module of its own: its default export maps one message, or its export `batch` maps a batch.
 * A TypeScript module needs a Node that runs it: 22.18 or later.
 */
export function mapModule<I = unknown, O = unknown>(options: MapModuleOptions): MapConnector<I, O> {
  requireKnownKeys("mapModule", options, KEYS);
  const { module, timeoutMs, version = 0 } = options;
  requireWhole("version", version, 0, Number.MAX_SAFE_INTEGER);
  if (timeoutMs !== undefined) requireDuration("timeoutMs", timeoutMs, 1);
  return {
    kind: "module",
    open: async ({ timer }): Promise<Mapper<I, O>> => {
      const exported = await load(module, version);
      if (typeof exported.batch === "function")
        return batchMapper(exported.batch as MapBatchFunction<I, O>, options, timer);
      if (typeof exported.default === "function")
        return functionMapper(exported.default as MapFunction<I, O>, options, timer);
      throw new ConfigError(
        `${String(module)} exports ${exportsOf(exported)}; a map module has a default export, such as export default (message) => ({ value: message.value }), or an export named batch`,
      );
    },
  };
}

function exportsOf(exported: MapModule): string {
  const found = Object.keys(exported).map((name) =>
    name === "default" || name === "batch" ? `${name}, which is no function` : name,
  );
  return found.length === 0 ? "nothing" : found.join(", ");
}

interface MapModule {
  readonly default?: unknown;
  readonly batch?: unknown;
}

async function load(module: string | URL, version: number): Promise<MapModule> {
  const url =
    module instanceof URL || module.startsWith("file:")
      ? String(module)
      : pathToFileURL(resolve(module)).href;
  try {
    if (version === 0) return (await import(url)) as MapModule;
    const fresh = new URL(url);
    // A CommonJS module is kept by its path, whatever the address says.
    Reflect.deleteProperty(createRequire(import.meta.url).cache, fileURLToPath(fresh));
    fresh.searchParams.set("version", String(version));
    return (await import(fresh.href)) as MapModule;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`${String(module)} cannot be loaded: ${why}`, undefined, { cause });
  }
}
