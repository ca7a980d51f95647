import type { Random, Timer } from "@sluice/core";
import type { JoinOptions } from "@sluice/fleet";
import type { VertexLimits } from "../definition/pipeline-definition.ts";
import type { PipelineEvent } from "./pipeline-event.ts";
import type { PipelineState } from "./pipeline-state.ts";

/** Where the replicas of a pipeline meet: limits hold for all of them together. */
export type PipelineFleet = Pick<
  JoinOptions,
  "store" | "replicas" | "maxMembers" | "share" | "timing"
>;

export interface PipelineRuntime {
  /** Prefix of the pools in the store: `flow/pipeline/vertex`. Default: `sluice`. */
  readonly flow?: string | undefined;
  /** Default: this process alone has the whole limit. */
  readonly fleet?: PipelineFleet | undefined;
  /** Called for every event of the pipeline. Default: none. */
  readonly observe?: ((event: PipelineEvent) => void) | undefined;
  /** Stops the pipeline, with a drain. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Time and randomness, for tests. Default: the real ones. */
  readonly timer?: Timer | undefined;
  /** Jitter of pauses, for tests. Default: `systemRandom`. */
  readonly random?: Random | undefined;
}

export interface SetLimitsOptions {
  /** Whether limits that were set are taken back. Default: false. */
  readonly isUnset?: boolean | undefined;
  /** Whether the store has the rate limit already, by `setVertexLimits`; it is then not written again. Default: false. */
  readonly isStored?: boolean | undefined;
  /**
   * Whether they are those of a new definition: they hold for this replica, as if it had been started with them, and what was set for the fleet is
   * removed. Other replicas get theirs by their own definitions. Default: false.
   */
  readonly isDefinition?: boolean | undefined;
}

export interface RunningPipeline {
  readonly name: string;
  state(): PipelineState;
  /**
   * New limits of one vertex, at once; the rate limit for the whole fleet if there is a store. With `isUnset` they are those that it was defined with, and what the store keeps is removed.
   */
  setLimits(vertex: string, limits: VertexLimits, options?: SetLimitsOptions): Promise<void>;
  /** Stops reading, waits for what was read (`drainMs`), gives the rest back to the source and closes everything. */
  stop(): Promise<PipelineState>;
  /** Resolves when the pipeline has stopped, by its end or `stop`; rejects if it cannot go on. */
  readonly done: Promise<PipelineState>;
  [Symbol.asyncDispose](): Promise<void>;
}
