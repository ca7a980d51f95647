import { inheritRateLimit, readRateLimit } from "@sluice/fleet";
import type { RateLimitBlock } from "@sluice/fleet";
import { requireWhole } from "@sluice/core/internal";
import { requireOptions } from "../connector/check-options.ts";
import type { VertexLimits } from "./pipeline-definition.ts";

/** Limits of a vertex with every default in place. */
export interface VertexSettings {
  /** Undefined: not limited. */
  readonly rateLimit: RateLimitBlock | undefined;
  readonly concurrency: number;
  readonly readBatchSize: number;
}

const KEYS = [
  "rateLimit",
  "concurrency",
  "readBatchSize",
] as const satisfies (keyof VertexLimits)[];
const EXAMPLE = "limits: { rateLimit: { max: 1000 }, concurrency: 4 }";
const READ_BATCH_SIZE = 500;
const READ_BATCH_MAX = 100_000;
const CONCURRENCY_MAX = 10_000;

/** The limits of a vertex, with what it leaves out taken from the pipeline, field by field. `where` is for errors. */
export function settingsOf(
  pipeline: VertexLimits | undefined,
  vertex: VertexLimits | undefined,
  where: string,
): VertexSettings {
  // A key that is not known would be a limit that does not hold.
  if (pipeline !== undefined)
    requireOptions("limits of the pipeline", pipeline, { known: KEYS, example: EXAMPLE });
  if (vertex !== undefined) requireOptions(where, vertex, { known: KEYS, example: EXAMPLE });
  const concurrency = vertex?.concurrency ?? pipeline?.concurrency ?? 1;
  const readBatchSize = vertex?.readBatchSize ?? pipeline?.readBatchSize ?? READ_BATCH_SIZE;
  requireWhole(`${where}.concurrency`, concurrency, 1, CONCURRENCY_MAX);
  requireWhole(`${where}.readBatchSize`, readBatchSize, 1, READ_BATCH_MAX);
  return {
    // Read by fleet, which refuses what is no rateLimit block.
    rateLimit: inheritRateLimit(pipeline?.rateLimit, vertex?.rateLimit) as
      | (RateLimitBlock & Readonly<Record<string, unknown>>)
      | undefined,
    concurrency,
    readBatchSize,
  };
}

/**
 * Refuses limits that no vertex can have, as `startPipeline` and `setLimits` do: for limits that are kept until a
 * pipeline runs. `where` is for errors. Secrets of a store are not read.
 */
export function checkLimits(limits: VertexLimits, where: string): void {
  const { rateLimit } = settingsOf(undefined, limits, where);
  if (rateLimit !== undefined) readRateLimit(rateLimit, { readSecret: () => "" });
}
