import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { MapConnector } from "../map-connector.ts";
import type { Mapper } from "../mapper.ts";
import { ThreadMapper } from "./thread-mapper.ts";

export interface MapThreadsOptions {
  /** A path, relative to the working directory, or a `file:` address; exports as of `mapModule`. */
  readonly module: string | URL;
  /** Worker threads. The vertex reads for all of them, so its limits hold for all of them together. */
  readonly threads: number;
  /** Longest time without a result while a thread has messages, ms; the thread is then replaced. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Heap of one thread, MiB; a thread that needs more is replaced. Default: Node's own bound. */
  readonly memoryMb?: number | undefined;
  /** Passed to the function with every call: plain data. Default: undefined. */
  readonly settings?: unknown;
}

const KEYS: ReadonlySet<string> = new Set([
  "module",
  "threads",
  "timeoutMs",
  "memoryMb",
  "settings",
] satisfies (keyof MapThreadsOptions)[]);

const THREADS_MAX = 1_024;
const TIMEOUT_MS = 30_000;

/**
 * A map module in worker threads: for maps that compute, or that must not be able to stop the process.
 *
 * @example
 * mapThreads({ module: "./score.mjs", threads: 4, timeoutMs: 5_000, memoryMb: 256 })
 */
export function mapThreads<I = unknown, O = unknown>(
  options: MapThreadsOptions,
): MapConnector<I, O> {
  requireKnownKeys("mapThreads", options, KEYS);
  const { module, threads, timeoutMs = TIMEOUT_MS, memoryMb, settings } = options;
  requireWhole("threads", threads, 1, THREADS_MAX);
  requireDuration("timeoutMs", timeoutMs, 1);
  if (memoryMb !== undefined) requireWhole("memoryMb", memoryMb, 4, 1_048_576);
  requireRunnable(String(module));
  const url =
    module instanceof URL || module.startsWith("file:")
      ? String(module)
      : pathToFileURL(resolve(module)).href;
  const parts = { module: String(module), url, settings, threads, timeoutMs, memoryMb };
  return {
    kind: "threads",
    open: (context) => ThreadMapper.open(parts, context) as Promise<Mapper<I, O>>,
  };
}

/** Refuses a TypeScript module that this Node cannot run, with the way out. */
function requireRunnable(module: string): void {
  // "strip" or "transform" where Node runs TypeScript.
  const typescript: unknown = Reflect.get(process.features, "typescript");
  if (!/\.[cm]?ts$/.test(module) || typeof typescript === "string") return;
  throw new ConfigError(
    `module is ${module}, and Node ${process.version} does not run TypeScript; use Node 22.18 or later, or compile it and give the .js file`,
  );
}
