import { inheritRateLimit } from "@sluice/fleet";
import type { RateLimitBlock } from "@sluice/fleet";
import { requireWhole } from "@sluice/core/internal";
import type { VertexLimits } from "./pipeline-definition.ts";

/** Limits of a vertex with every default in place. */
export interface VertexSettings {
  /** Undefined: not limited. */
  readonly rateLimit: RateLimitBlock | undefined;
  readonly concurrency: number;
  readonly readBatchSize: number;
}

const READ_BATCH_SIZE = 500;
const READ_BATCH_MAX = 100_000;
const CONCURRENCY_MAX = 10_000;

/** The limits of a vertex, with what it leaves out taken from the pipeline, field by field. `where` is for errors. */
export function settingsOf(
  pipeline: VertexLimits | undefined,
  vertex: VertexLimits | undefined,
  where: string,
): VertexSettings {
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
