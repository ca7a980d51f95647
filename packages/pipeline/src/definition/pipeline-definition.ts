import type { RateLimitBlock } from "@sluice/fleet";
import type { SinkConnector } from "../connector/sink.ts";
import type { SourceConnector } from "../connector/source.ts";
import type { MapConnector } from "../map/map-connector.ts";

/** Limits of one vertex; a pipeline has defaults for all of its vertices, field by field. */
export interface VertexLimits {
  /** Numaflow's block: messages a second that all replicas of this vertex read together. Default: not limited. */
  readonly rateLimit?: RateLimitBlock | undefined;
  /** Batches that this vertex works on at once; a source reads once at a time. Default: 1, and order is kept. */
  readonly concurrency?: number | undefined;
  /** Messages that one read takes at most. Default: 500. */
  readonly readBatchSize?: number | undefined;
}

interface VertexDefinition {
  /** Unique in its pipeline: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly limits?: VertexLimits | undefined;
}

export interface SourceVertex extends VertexDefinition {
  readonly source: SourceConnector;
}

export interface MapVertex extends VertexDefinition {
  readonly map: MapConnector;
}

export interface SinkVertex extends VertexDefinition {
  readonly sink: SinkConnector;
}

/** How often a message is tried in one vertex. */
export interface RetryDefinition {
  /**
   * Tries of one message in one vertex, the first included. Default: 5; but a sink that says that a message may
   * succeed later gets it until it does if there is no dead-letter sink, because nothing else has the message.
   */
  readonly attempts?: number | undefined;
  /** Pause before the second try, ms; it doubles up to `backoffMaxMs`, with jitter. Default: 100. */
  readonly backoffMs?: number | undefined;
  /** Default: 10 000. */
  readonly backoffMaxMs?: number | undefined;
}

/** A pipeline: messages go from the source through the maps to the sink, in this order. */
export interface PipelineDefinition {
  readonly name: string;
  readonly source: SourceVertex;
  readonly maps: readonly MapVertex[];
  readonly sink: SinkVertex;
  /** Defaults for the limits of every vertex. */
  readonly limits?: VertexLimits | undefined;
  readonly retry?: RetryDefinition | undefined;
  /** Gets messages that no try could process. Default: an event tells of them, and they are acknowledged: they are lost. */
  readonly deadLetter?: SinkConnector | undefined;
  /** Messages that wait between two vertices at most. Default: 2 × the read batch of the vertex behind. */
  readonly bufferMax?: number | undefined;
  /** How long a stop waits for messages that were read, ms. Default: 10 000. */
  readonly drainMs?: number | undefined;
}
