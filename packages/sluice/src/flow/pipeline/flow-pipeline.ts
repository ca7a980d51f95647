import type { RetryDefinition, VertexLimits } from "@sluice/pipeline";
import type { Chosen } from "./choice.ts";
import type { PartialRateLimit } from "./rate-limit-field.ts";

/** Limits as a file has them; what a vertex leaves out comes from its pipeline. */
export interface FlowVertexLimits extends Omit<VertexLimits, "rateLimit"> {
  readonly rateLimit?: PartialRateLimit | undefined;
}

/** A vertex: exactly one of source, map and sink. */
export interface FlowVertex {
  readonly name: string;
  readonly limits?: FlowVertexLimits | undefined;
  readonly source?: Chosen | undefined;
  readonly map?: Chosen | undefined;
  readonly sink?: Chosen | undefined;
}

/** A pipeline of a flow file. Files in the options of connectors are as the file names them. */
export interface FlowPipeline {
  readonly vertices: readonly FlowVertex[];
  readonly limits?: FlowVertexLimits | undefined;
  readonly retry?: FlowRetry | undefined;
  readonly deadLetter?: Chosen | undefined;
  readonly drain?: number | undefined;
  readonly buffer?: number | undefined;
  readonly fleet?: FlowFleet | undefined;
}

/** How replicas divide the limits. */
export interface FlowFleet {
  readonly maxMembers?: number | undefined;
  readonly replicas?: number | undefined;
  readonly share?: "demand" | "equal" | undefined;
  /** In ms. */
  readonly lease?: number | undefined;
}

/** Durations are in ms. */
interface FlowRetry {
  readonly attempts?: RetryDefinition["attempts"];
  readonly backoff?: number | undefined;
  readonly backoffMax?: number | undefined;
}

/** What a vertex is, by the key that it has. */
export function roleOf({ source, map }: FlowVertex): "source" | "map" | "sink" {
  if (source !== undefined) return "source";
  return map === undefined ? "sink" : "map";
}
