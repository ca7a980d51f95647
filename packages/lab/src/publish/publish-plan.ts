import type { LimitsBlock } from "../file/limits/limits.ts";

/** A producer of a run. */
export interface PublishProducer {
  readonly id: string;
  /** The full name. */
  readonly topic: string;
  /** Messages, for the whole run or for each second of it. */
  readonly perSecond: number | readonly number[];
  /** Bytes of a message. */
  readonly bytes: number;
  /** Messages of a frame. */
  readonly batch: number;
  /** Producers with the same name share a connection. */
  readonly connection: string;
}

/** What a run does. */
export interface PublishPlan {
  /** Names of topics are full. */
  readonly limits: LimitsBlock;
  /** `arrival`: one queue for each topic, whatever producer a frame is of. */
  readonly turns: "fair" | "arrival";
  readonly producers: readonly PublishProducer[];
  readonly durationS: number;
  readonly seed: number;
}
