import { isDeepStrictEqual } from "node:util";
import { inheritRateLimit, readRateLimit } from "@sluice/fleet";
import type { FleetState } from "@sluice/fleet";
import type { VertexLimits } from "@sluice/pipeline";
import type { FlowPipeline, FlowVertexLimits } from "../flow/pipeline/flow-pipeline.ts";
import { limitsOf } from "./define/define-pipeline.ts";

/** Where the limits of a vertex come from. */
export interface VertexLimitSource {
  /** What it leaves out comes from the pipeline. */
  readonly limits: FlowVertexLimits;
  /** Wall time; undefined: the flow file has them. */
  readonly setAtMs?: number | undefined;
}

/** Limits of a vertex that were set through this process while its pipeline ran. */
export interface LiveLimits {
  /** Undefined: they were taken back, and those of the file hold. Without `rateLimit`: the rate limit of the file holds. */
  readonly limits: FlowVertexLimits | undefined;
  /** Wall time. */
  readonly setAtMs: number;
  /** The version that the store gave to the rate limit; undefined: the store does not have it. */
  readonly version: number | undefined;
}

/** The limits that the file gives to a vertex itself. */
export function ownLimitsOf({ vertices }: FlowPipeline, vertex: string): FlowVertexLimits {
  return vertices.find(({ name }) => name === vertex)?.limits ?? {};
}

/** The limits of a vertex with what the pipeline gives. */
export function effectiveOf({ limits: outer }: FlowPipeline, own: FlowVertexLimits): VertexLimits {
  const rateLimit = inheritRateLimit(outer?.rateLimit, own.rateLimit);
  return limitsOf({
    ...outer,
    ...own,
    ...(rateLimit !== undefined && { rateLimit }),
  });
}

/** Limits that were set while the pipeline ran, with the vertex's rate limit of the file if they have none. */
export function withOwnRate(
  flow: FlowPipeline,
  vertex: string,
  limits: FlowVertexLimits,
): FlowVertexLimits {
  const { rateLimit } = ownLimitsOf(flow, vertex);
  return limits.rateLimit !== undefined || rateLimit === undefined
    ? limits
    : { ...limits, rateLimit };
}

/** Whether the file gives a vertex a rate limit. */
export function isLimited(flow: FlowPipeline, vertex: string): boolean {
  return effectiveOf(flow, ownLimitsOf(flow, vertex)).rateLimit !== undefined;
}

/**
 * The limits that hold for a vertex. `live` were set through this process; another replica may have set or removed others
 * since, which `fleet`, the state of the vertex's pool, tells.
 */
export function limitSourceOf(
  flow: FlowPipeline,
  vertex: string,
  live: LiveLimits | undefined,
  fleet: FleetState | undefined,
): VertexLimitSource {
  const own = ownLimitsOf(flow, vertex);
  const here =
    live?.limits === undefined
      ? { limits: own }
      : { ...live, limits: withOwnRate(flow, vertex, live.limits) };
  const { bounds, membership } = fleet ?? {};
  const version = membership?.limitsVersion ?? 0;
  if (bounds === undefined || version <= (live?.version ?? 0)) return sourceOf(here);
  const { rateLimit: _, ...counts } = here.limits;
  const rateLimit = effectiveOf(flow, own).rateLimit;
  if (rateLimit !== undefined && isDeepStrictEqual(boundsOf(rateLimit), bounds)) {
    const limits = { ...counts, ...(own.rateLimit !== undefined && { rateLimit: own.rateLimit }) };
    return sourceOf(isDeepStrictEqual(limits, own) ? { limits } : { ...here, limits });
  }
  const { max, min, rampUpMs } = bounds;
  const set = { ...own.rateLimit, max, min, rampUpDuration: `${rampUpMs / 1000}s` };
  return { limits: { ...counts, rateLimit: set }, setAtMs: version };
}

function sourceOf({ limits, setAtMs }: VertexLimitSource): VertexLimitSource {
  return { limits, ...(setAtMs !== undefined && { setAtMs }) };
}

function boundsOf(rateLimit: NonNullable<VertexLimits["rateLimit"]>): object {
  const { max, min, rampUpMs } = readRateLimit(rateLimit, { readSecret: () => "" }).ramp;
  return { max, min, rampUpMs };
}
