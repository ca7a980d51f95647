import type { Reason } from "@sluice/core";
import type { SinkGate } from "../connector/sink.ts";
import type { FleetState } from "@sluice/fleet";

export type PipelineStatus = "starting" | "running" | "draining" | "stopped" | "failed";

/** Why a vertex does not go on at present. */
export interface VertexWaiting {
  /** One of the closed list; undefined: for room in the buffer of the vertex behind (back-pressure), for the source's server, or for a map's program. */
  readonly reason: Reason | undefined;
  /** For people: `its share is 222/s: the ceiling of 888/s by 4 members`. */
  readonly detail: string;
  /** On the runtime's clock, ms. */
  readonly sinceMs: number;
  readonly untilMs?: number | undefined;
  /** Whether a map's program cannot be started, or a source cannot be read or acknowledged: nothing further along is the cause. */
  readonly isDown?: boolean | undefined;
}

/** The batch that a map or a sink has worked on for the longest time. */
export interface VertexWork {
  /** When the vertex read it, on the runtime's clock, ms. */
  readonly sinceMs: number;
  /** Messages of the batch. */
  readonly messages: number;
  /** The newest failure of a message that is tried again; undefined while none is. */
  readonly failure?: string | undefined;
}

/** Counters since the start. */
export interface VertexCounts {
  readonly read: number;
  /** Outputs of a map, messages that a sink has. */
  readonly written: number;
  readonly dropped: number;
  /** Tries that failed. */
  readonly failed: number;
  readonly retried: number;
  readonly deadLettered: number;
}

export interface VertexState {
  readonly name: string;
  readonly kind: "source" | "map" | "sink";
  /** The connector's or map's kind. */
  readonly connector: string;
  /** Messages read per second, over the last seconds. */
  readonly perSecond: number;
  readonly counts: VertexCounts;
  /** Messages that wait before this vertex; of a source its backlog, if its server says. */
  readonly queue: number | undefined;
  /** Messages that its buffer takes; undefined for a source. */
  readonly queueMax?: number | undefined;
  /** Messages that it works on. */
  readonly inFlight: number;
  /** Undefined while it works on nothing. */
  readonly work?: VertexWork | undefined;
  /** The state of its rate limit, if it has one. */
  readonly fleet?: FleetState | undefined;
  readonly waiting?: VertexWaiting | undefined;
  /** The gate of a sink that has one. */
  readonly gate?: SinkGate | undefined;
}

export interface PipelineState {
  readonly name: string;
  readonly status: PipelineStatus;
  /** Messages read from the source and not acknowledged. */
  readonly unacknowledged: number;
  readonly vertices: readonly VertexState[];
}
