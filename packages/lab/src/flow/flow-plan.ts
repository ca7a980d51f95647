import type { LimitsBlock } from "../file/limits/limits.ts";
import type { RateBlock } from "../file/limits/rate.ts";
import type { ProducerPlan } from "./producer-plan.ts";

/** What a run of kind flow is made of. Topics have their full names everywhere. */
export interface FlowPlan {
  readonly limits: LimitsBlock;
  readonly producers: readonly ProducerPlan[];
  readonly events: readonly FlowEvent[];
  readonly rttMs: number;
  readonly storeLatencyMs: number;
  readonly durationS: number;
  readonly seed: number;
}

export interface FlowEvent {
  readonly atMs: number;
  readonly action: FlowAction;
}

export type FlowAction =
  | { readonly do: "limits"; readonly limits: LimitsChange }
  /** The producer's process ends; a producer that shares its connection is closed instead. */
  | { readonly do: "leave"; readonly producer: string }
  /** From now on the producer acts as if it knew no throttle commands, on a connection that announced them. */
  | { readonly do: "ignore"; readonly producer: string };

/** New limits of what is named; all others stay. */
export interface LimitsChange {
  readonly topics: Readonly<Record<string, RateBlock | "none">>;
  readonly groups: Readonly<Record<string, RateBlock | "none">>;
  readonly broker?: RateBlock | "none" | undefined;
}
